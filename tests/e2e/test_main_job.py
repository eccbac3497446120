"""What the program is for, from the first key to the next day: a prompt, an answer that streams, a fact, an escalation,
a look at what was sent, the way back, and all of it again after a restart."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from milk_tui import paths
from milk_tui.store import legs, sessions
from tests.e2e.conftest import Place
from tests.e2e.looking import ask, conversation, facts, leave, plain, prompt, wait_in
from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer
from tests.support.terminal import Terminal

pytestmark = pytest.mark.e2e

QUESTION = "Why does checkout charge twice after a timeout?"
HARDER = "Design the key for charge() across the three services"
FACT = "The handler retries charge() without a key"
BEGINNING = "Checkout charges twice:"
ENDING = "the second try carries no idempotency key."
DESIGN = "One key for each order, made by the cart."
ASKS = "Shall I write the migration?"


def primary_reply(gate: Path) -> str:
    """An answer that stops in the middle until the test has seen its beginning."""
    return f"SCN:say {BEGINNING} SCN:tag percept {FACT} SCN:until {gate} SCN:say \\n\\n{ENDING}"


def escalation_reply() -> str:
    return f"SCN:say {DESIGN}\\n\\n{ASKS}"


def test_with_a_scripted_model(place: Place) -> None:
    gate = place.root / "go on"
    place.replies(primary_reply(gate), escalation_reply())
    do_the_job(place, gate)
    first, second = place.requests()
    assert QUESTION in str(first)
    assert [part for part in (HARDER, FACT, BEGINNING, ENDING) if part not in str(second)] == []


@pytest.fixture
def servers(place: Place) -> Iterator[tuple[Place, OpenAIServer, AnthropicServer]]:
    """A machine with the real model host, and two real servers on the loopback."""
    with ExitStack() as stack:
        openai = stack.enter_context(OpenAIServer().in_thread())
        anthropic = stack.enter_context(AnthropicServer().in_thread())
        place.write_config(
            f'[agents.fast]\nmodel = "openai/loopback"\napi_base = "{openai.url}"\n'
            f'[agents.deep]\nmodel = "anthropic/claude-sonnet-4-5"\napi_base = "{anthropic.url}"\n'
            'api_key_env = "DEEP_KEY"\n'
        )
        yield replace(place, scripted=False, agents=()), openai, anthropic


@pytest.mark.slow
def test_with_the_real_model_host_and_two_real_servers(
    servers: tuple[Place, OpenAIServer, AnthropicServer],
) -> None:
    place, openai, anthropic = servers
    gate = place.root / "go on"
    openai.replies.append(primary_reply(gate))
    anthropic.replies.append(escalation_reply())
    do_the_job(place, gate, DEEP_KEY="a-key-of-no-worth")
    assert [QUESTION in str(request.body) for request in openai.requests] == [True]
    (escalated,) = anthropic.requests
    assert [part for part in (HARDER, FACT, BEGINNING, ENDING) if part not in str(escalated.body)] == []
    assert escalated.headers["x-api-key"] == "a-key-of-no-worth"
    assert not [file for file in place.home.rglob("*") if file.is_file() and b"a-key-of-no-worth" in file.read_bytes()]


@pytest.mark.slow
@pytest.mark.embedded
@pytest.mark.timeout(900)
def test_with_the_embedded_model_and_a_real_server_for_what_is_hard(
    servers: tuple[Place, OpenAIServer, AnthropicServer],
) -> None:
    place, _, anthropic = servers
    place.write_config(
        place.config.read_text()
        + '[agents.little]\nprovider = "embedded"\nmodel = "tiny"\nrole = "primary"\n[embedded]\ngrace = 1\n'
    )
    anthropic.replies.append(f"SCN:tag percept {FACT} {escalation_reply()}")
    models = os.environ.get("MILK_TUI_MODELS") or str(paths.cache_dir({}) / "models")
    start = partial(place.open, "--escalation", "deep", MILK_TUI_MODELS=models, DEEP_KEY="x")
    with start() as screen:
        screen.wait_for(lambda text: "● little" in text and "◆ deep" in text)
        ask(screen, "Say hello in one short sentence.")
        wait_in(screen, "conversation", "● little · ", " out", deadline_s=240)
        escalate(screen)
        wait_in(screen, "percepts", FACT)
        screen.press("f3")
        wait_in(screen, "bricks", "need", "brief", "primary's summary")
        screen.press("end")
        wait_in(screen, "bricks", "escalation's summary", DESIGN)
        screen.press("escape")
        wait_in(screen, "conversation", ASKS)
        hand_back(screen, "little")
        screen.send("tomorrow: the refunds")
        screen.wait_for(lambda _: prompt(screen) == "tomorrow: the refunds")
        leave(screen)
    (escalated,) = anthropic.requests
    assert all(part in str(escalated.body) for part in (HARDER, "Say hello in one short sentence."))
    with start() as screen:
        find_it_again(screen, "Say hello")
        leave(screen)
    with place.store() as store:
        (row,) = store.read_sync(sessions.rows)
        first, _ = (leg.id for leg in store.read_sync(lambda conn: legs.index(conn, row.id)))
        answer = store.read_sync(lambda conn: legs.get(conn, first))
        assert (answer.model, answer.status) == ("embedded:tiny", "done")
        assert answer.text
    place.wait_alone(60)


def do_the_job(place: Place, gate: Path, **environ: str) -> None:
    """One person's day; what the servers were asked is for the caller to look at."""
    with place.open(**environ) as screen:
        screen.wait_for(lambda text: "● fast" in text and "◆ deep" in text)
        see_it_stream(screen, gate)
        escalate(screen)
        inspect(screen)
        hand_back(screen)
        screen.send("tomorrow: the refunds")
        screen.wait_for(lambda _: prompt(screen) == "tomorrow: the refunds")
        leave(screen)
    with place.open(**environ) as screen:
        find_it_again(screen)
        leave(screen)
    with place.store() as store:
        (row,) = store.read_sync(sessions.rows)
        assert (row.title, row.turns) == (QUESTION, 2)
        kept = store.read_sync(lambda conn: [leg.status for leg in legs.index(conn, row.id)])
        assert kept == ["done", "done"]
    place.wait_alone()


def see_it_stream(screen: Terminal, gate: Path) -> None:
    ask(screen, QUESTION)
    wait_in(screen, "conversation", BEGINNING, deadline_s=90)
    wait_in(screen, "percepts", FACT)
    assert ENDING not in plain(conversation(screen))
    assert "esc" in screen.lines[-1], "the footer offers to stop what runs"
    gate.touch()
    wait_in(screen, "conversation", ENDING)
    wait_in(screen, "conversation", "remembered")
    assert "milk:" not in screen.text


def escalate(screen: Terminal) -> None:
    ask(screen, HARDER, key="ctrl+g")
    shown = plain(wait_in(screen, "conversation", ASKS, deadline_s=90))
    assert "◆ escalated to deep" in shown
    receipt = shown.partition("◆ escalated to deep")[2].partition(DESIGN)[0]
    assert "sent " in receipt
    assert "summary" in receipt
    assert "F3" in receipt
    screen.wait_for(lambda text: "waiting" in text.splitlines()[0])


def inspect(screen: Terminal) -> None:
    screen.press("f3")
    wait_in(screen, "bricks", "need", "brief", "primary's summary")
    screen.press("end")
    wait_in(screen, "bricks", "escalation's summary", DESIGN)
    wait_in(screen, "receipts", "◆ deep", "● ")
    assert "if I escalated now" in screen.text
    screen.press("escape")
    wait_in(screen, "conversation", ASKS)


def hand_back(screen: Terminal, primary: str = "fast") -> None:
    screen.press("ctrl+l")
    screen.wait_for(f"back to {primary}")
    screen.wait_for(lambda text: "waiting" not in text.splitlines()[0])


def find_it_again(screen: Terminal, title: str = QUESTION.removesuffix("?")) -> None:
    """Session, conversation, fact and draft are on the screen again, in any order."""
    screen.wait_for(lambda _: prompt(screen) == "tomorrow: the refunds")
    shown = plain(wait_in(screen, "conversation", ASKS))
    assert all(part in shown for part in (HARDER, "◆ escalated to deep", DESIGN))
    assert FACT in plain(facts(screen))
    assert title in screen.lines[0]
