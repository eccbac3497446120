"""Texts with tags in them, made and read."""

from __future__ import annotations

from hypothesis import strategies as st

from milk_tui.core.tags import Capture, Interceptor

OWN, OTHER, STRANGE = "k3x9q2", "zz00zz", "abcdef"


def tag(body: str, kind: str = "percept", nonce: str = OWN, close: str | None = None) -> str:
    return f"<milk:{kind}:{nonce}>{body}</milk:{kind}:{nonce if close is None else close}>"


def run(*pieces: str) -> tuple[str, list[Capture]]:
    interceptor = Interceptor(OWN, [OTHER])
    shown = "".join(interceptor.feed(piece) for piece in pieces) + interceptor.close()
    return shown, interceptor.take()


def shown_of(text: str) -> str:
    return run(text)[0]


def bodies_of(text: str) -> list[str]:
    return [capture.body for capture in run(text)[1]]


FRAGMENTS = [
    *(f"<milk:{kind}:{nonce}>" for kind in ("percept", "need") for nonce in (OWN, OTHER, STRANGE)),
    *(f"</milk:{kind}:{nonce}>" for kind in ("percept", "need") for nonce in (OWN, OTHER, STRANGE)),
    *(
        tag("fact"),
        tag("a need", "need"),
        tag(" "),
        tag("theirs", nonce=OTHER),
        "</milk:percept>",
        f"<milk:frame:{OWN}>",
    ),
    *("<", "<m", "<milk:", "milk:percept:", OWN + ">", ">", "</", f"</milk:percept:{OWN}"),
    *("`", "``", "```", "````", "~", "~~~", "~~~~", "\\", "```py", "# ", "> ", "- ", "1. ", "*", "+ ", "12) "),
    *("\n", "\n\n", " ", "  ", "    ", "\t", "word", "é語👩", "1", ".", "-", "#"),
]
nasty = st.lists(st.sampled_from(FRAGMENTS), max_size=24).map("".join)
long_nasty = st.lists(
    st.sampled_from([*FRAGMENTS, "x" * 250, "y" * 2000, "z" * 4090, "ab " * 1365, " " * 300]), max_size=16
).map("".join)


_LEADS = [
    "",
    "",
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "     ",
    "\t",
    "> ",
    ">",
    "> > ",
    "- ",
    "1. ",
    "10) ",
    "  - ",
    ">     ",
    "# ",
]
_WORDS = ["word", "word ", "`", "``", "```", "~~~", "\\", tag("a"), tag("b"), tag("c", nonce=OTHER), " ", "1", "-"]
_LINES = ["```", "````", "~~~", "~~~~", "```py", "```  ", "~~~ `x", tag("x") + "```", "``` " + tag("y"), "", " ", ">"]
line = st.tuples(
    st.sampled_from(_LEADS), st.sampled_from(_LINES) | st.lists(st.sampled_from(_WORDS), max_size=4).map("".join)
).map("".join)
documents = st.lists(line, max_size=14).map("\n".join)
"""Lines that begin as Markdown's blocks do, with tags in them."""
