"""The memory browser in a pseudo-terminal on a real session: real bytes in, what a person sees out."""

from __future__ import annotations

from tests.ui.test_in_terminal import READY, program, quit_program

__all__ = ["program"]

FACT = "parcels wait in the depot"


def test_a_fact_is_found_edited_forgotten_and_brought_back(program) -> None:
    with program(cols=120, rows=36) as terminal:
        terminal.wait_for(READY)
        terminal.send(f"Why? SCN:tag percept {FACT} SCN:say ok\r")
        terminal.wait_for("remembered: #")
        terminal.send("/learn the shop sells milk\r")
        terminal.wait_for("the shop sells milk")
        terminal.press("f2")
        terminal.wait_for("memory · 2 facts")
        terminal.wait_for("WHERE IT IS FROM")
        terminal.send("/parcels")
        terminal.wait_for("for “parcels”")
        terminal.press("enter")
        terminal.send("e")
        terminal.wait_for("enter keeps it")
        terminal.send(" of the worker\r")
        terminal.wait_for(f"{FACT} of the worker")
        terminal.wait_for("is yours now")
        terminal.press("escape")
        terminal.wait_for("SESSION 2")
        terminal.send(" ")
        terminal.wait_for("✓ 1 marked")
        terminal.send("x")
        terminal.wait_for("FORGOTTEN 1")
        terminal.send("u")
        terminal.wait_for("SESSION 2")
        terminal.send("?")
        terminal.wait_for("would be given")
        terminal.press("escape")
        terminal.press("escape")
        terminal.wait_for(READY)
        quit_program(terminal)


def test_it_is_usable_in_a_small_terminal_without_colours(program) -> None:
    with program(cols=60, rows=20, NO_COLOR="1") as terminal:
        terminal.wait_for(READY)
        terminal.send("/learn the shop sells milk\r")
        terminal.wait_for("remembered #")
        terminal.send("/memory\r")
        terminal.wait_for("memory · 1 fact")
        terminal.send("p")
        terminal.wait_for("★ PINNED 1")
        terminal.resize(100, 30)
        terminal.wait_for("you")
        terminal.press("enter")
        terminal.wait_for("WHERE IT IS FROM")
        terminal.press("escape")
        terminal.press("f2")
        terminal.wait_for(READY)
        quit_program(terminal)
