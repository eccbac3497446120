"""The steps of a walk as data, so that what is pressed in it can be counted without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from milk_tui.ui.actions import BY_ID, Where
from tests.e2e.keyboard.walk import Sign, Walk


@dataclass(frozen=True)
class Step:
    """One thing that a person does. ``pressed``: the key or the command of an action, with the action's id."""

    do: Callable[[Walk], None]
    said: str
    action: str = ""
    pressed: str = ""


Steps = tuple[Step, ...]


def walk_through(walk: Walk, steps: Iterable[Step]) -> None:
    for number, step in enumerate(steps):
        try:
            step.do(walk)
        except AssertionError as error:
            raise AssertionError(f"step {number}, {step.said}: {error}") from None


def key(action: str, *seen: str, gone: str = "", at: str = "", copied: str = "", nth: int = 0) -> Step:
    """Press the action's key, or its ``nth`` other one."""
    pressed = BY_ID[action].keys[nth]
    sign = _sign(seen, gone, at, copied)

    def do(walk: Walk) -> None:
        walk.do(lambda: walk.send(pressed), sign.named(walk.names))

    return Step(do, f"key {pressed} of {action}", action, pressed)


def command(
    action: str, argument: str = "", *seen: str, gone: str = "", at: str = "", copied: str = "", name: str = ""
) -> Step:
    """Write the action's command, or an alias of it, into the prompt and send it."""
    pressed = f"/{name or BY_ID[action].command}"
    sign = _sign(seen, gone, at, copied)

    def do(walk: Walk) -> None:
        written = f"{pressed} {argument.format_map(walk.names)}".strip()
        walk.write(written)
        enter = partial(walk.say_until_heard, written) if walk.asked else partial(walk.screen.press, "enter")
        walk.do(enter, sign.named(walk.names))

    return Step(do, f"{pressed} {argument}", action, pressed)


def press(key: str, *seen: str, gone: str = "", at: str = "") -> Step:
    """Press a key that is no action's own; with nothing to see, only press it."""
    sign = _sign(seen, gone, at)

    def do(walk: Walk) -> None:
        if sign == Sign():
            walk.screen.settle(0.1, 0.6)
            walk.send(key)
        else:
            walk.do(lambda: walk.send(key), sign.named(walk.names))

    return Step(do, f"press {key}")


def keys(text: str, *seen: str, gone: str = "", at: str = "") -> Step:
    """Type into what has the focus; what is typed is seen there."""
    sign = _sign(seen or (text.strip(),), gone, at)
    return Step(lambda walk: walk.do(lambda: walk.screen.send(text), sign.named(walk.names)), f"type {text}")


def write(text: str) -> Step:
    return Step(lambda walk: walk.write(text), f"write {text[:40]}")


def say(text: str, *seen: str) -> Step:
    """A prompt, to the end of its answer."""

    def do(walk: Walk) -> None:
        walk.write(text)
        walk.do(lambda: walk.screen.press("enter"), Sign(seen))
        walk.rest()

    return Step(do, f"say {text[:40]}")


def see(*seen: str, gone: str = "") -> Step:
    sign = _sign(seen, gone)
    return Step(lambda walk: walk.wait(sign.named(walk.names)), f"see {sign}")


def to(where: Where) -> Step:
    return Step(lambda walk: walk.to_pane(where), f"to the {where}")


BACK = Step(Walk.back, "back to the prompt")
CLEAR = Step(Walk.clear, "clear the prompt")
READ = Step(lambda walk: walk.read(), "read what is asked")
REST = Step(Walk.rest, "until nobody works")


def _sign(seen: tuple[str, ...], gone: str, at: str = "", copied: str = "") -> Sign:
    return Sign(seen, (gone,) if gone else (), at, copied)
