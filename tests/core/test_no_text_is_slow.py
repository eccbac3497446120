"""No text makes a reader take more time than its length: what each says of one that was made to.

(Patterns that try again from every blank, bracket or stop needed the square of it: minutes for what is here.)
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from milk_tui.agents import embedded_facts
from milk_tui.core import perception, perception_doubt, routing_signals, values
from milk_tui.core.currency import take_replaced
from milk_tui.core.cuts import escape
from milk_tui.core.helper_answer import _SENTENCE_END

MANY = 200_000
BLANKS, LINES = " " * MANY, "\n" * MANY


def marks(line: str) -> tuple[str, dict[str, str]]:
    said: dict[str, str] = {}
    return perception._without_marks(line, said), said


CASES: tuple[tuple[Callable[[str], object], str, object], ...] = (
    (escape, f"[{BLANKS}", f"[{BLANKS}"),
    (escape, f"[{BLANKS}/{BLANKS}frame", rf"\[{BLANKS}/{BLANKS}frame"),
    (escape, "[ " * MANY, "[ " * MANY),
    (take_replaced, f"x{BLANKS}y", (f"x{BLANKS}y", ())),
    (take_replaced, f"x{BLANKS}({BLANKS}replaces #abcd)", ("x", ("#abcd",))),
    (take_replaced, "(" * MANY, ("(" * MANY, ())),
    (marks, f"x{BLANKS}y", (f"x{BLANKS}y", {})),
    (marks, f"x [reason:{BLANKS}", (f"x [reason:{BLANKS}", {})),
    (marks, f"x{BLANKS}[reason: why]", ("x", {"reason": "why"})),
    (embedded_facts._sentences, "a." + "\n" * MANY + "b.", ["a.", "b."]),
    (lambda text: embedded_facts._ASKED_AFTER.sub("", text), f"a{BLANKS}x", f"a{BLANKS}x"),
    (lambda text: embedded_facts._ASKED_AFTER.sub("", text), f"a{BLANKS}remember that.", "a"),
    (routing_signals._PATH.findall, "/+" * MANY, []),
    (routing_signals._PATH.findall, f"x +/usr/lib{BLANKS}a/b", ["+/usr/lib", "a/b"]),
    (routing_signals._TRACE.findall, f"{LINES}  at f(", ["  at f("]),
    (perception_doubt._SETTING.findall, LINES, []),
    (perception_doubt._SETTING.findall, f"{LINES}  port: 9090{LINES}", [("port", "9090")]),
    (perception_doubt._SETTING.findall, f"a{BLANKS}b", []),
    (values.find, "*" * MANY, []),
    (values.find, "aMay" * MANY, []),
    (lambda text: [found.end() for found in _SENTENCE_END.finditer(text)], "a" + "?" * MANY + "x", []),
)


@pytest.mark.parametrize(("reader", "text", "said"), CASES, ids=[str(number) for number in range(len(CASES))])
def test_it_is_read_as_any_other(reader: Callable[[str], object], text: str, said: object) -> None:
    assert reader(text) == said
