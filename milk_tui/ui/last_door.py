"""The last door to the terminal: whatever a widget draws, no text brings a sequence of its own or other cells than were
reckoned (``quality.md``, "hostile text").

Texts are cleaned where they are put into words; this holds for all the others too, such as what Textual's own widgets
draw. It works on strips when they become bytes, once for each, so that what is selected, copied and searched stays as
it is. On the width of some characters terminals disagree; they are drawn as what all agree on:

- joiners and variation selectors are not sent: of a joined emoji as much is drawn as has room in its cells;
- skin tones are left out, flags are their two letters, characters that are in no table yet are U+FFFD;
- of the marks on one letter ``MOST_MARKS`` are drawn: more would cover other rows.

A link in a text is sent as one only when it is a web or mail address in plain characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len, get_character_cell_size, split_graphemes
from rich.segment import Segment
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style

MOST_MARKS = 3

_plain = re.compile(
    "[ -~\xa0-\xac\xae-\u02ff\u0370-\u0377\u0391-\u03a1\u03a3-\u0482\u2010-\u2027"
    "\u2190-\u21ff\u2500-\u25ff\u276f\u2800-\u28ff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]*"
).fullmatch
_address = re.compile(r"(?:https?://|mailto:)[!-~]{1,2000}", re.IGNORECASE).fullmatch
_line_ends = re.compile("[\t\n\r\x85\u2028\u2029]")
_selectors = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_FLAGS = {code: chr(code - 0x1F1E6 + ord("A")) for code in range(0x1F1E6, 0x1F200)}
_UNEVEN = {**_FLAGS, **dict.fromkeys(range(0x1F3FB, 0x1F400))}
_UNKNOWN = "\ufffd"


def drawn(text: str) -> str:
    """The text as it is sent to the terminal: harmless, and in exactly ``rich.cells.cell_len(text)`` cells."""
    if _plain(text):
        return text
    return _drawn(text) if len(text) < 512 else _drawn.__wrapped__(text)


@lru_cache(maxsize=2048)
def _drawn(text: str) -> str:
    from milk_tui.core.text import clean

    wanted = cell_len(text)
    kept = _even(clean(_line_ends.sub("", text)))
    if cell_len(kept) == wanted:
        return kept
    spans, _ = split_graphemes(text)
    fitted = "".join(_fitted(text[start:end], cells) for start, end, cells in spans)
    return fitted if cell_len(fitted) == wanted else " " * wanted


def _even(text: str) -> str:
    """Without what terminals measure differently; every character left is as wide as it is by itself."""
    text = _selectors.sub("", text).translate(_UNEVEN)
    kept: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        if category in ("Mn", "Me"):
            marks += 1
            if marks > MOST_MARKS:
                continue
        else:
            marks = 0
        kept.append(_UNKNOWN if category == "Cn" and get_character_cell_size(character) == 1 else character)
    return "".join(kept)


def _fitted(grapheme: str, cells: int) -> str:
    """As much of it as has room in its cells, filled up with blanks."""
    from milk_tui.core.text import clean

    taken = ""
    for character in _even(clean(_line_ends.sub("", grapheme))):
        if cell_len(taken) + get_character_cell_size(character) <= cells:
            taken += character
    return taken + " " * (cells - cell_len(taken))


def _safe(segments: Iterable[Segment]) -> list[Segment]:
    return [Segment(drawn(text), _linked(style)) for text, style, _ in segments]


def _is_harmless(segment: Segment) -> bool:
    style = segment[1]
    return _plain(segment[0]) is not None and (style is None or style._link is None)


def _linked(style: Style | None) -> Style | None:
    if style is None or style.link is None or _address(style.link):
        return style
    return style.update_link(None)


def _renders(render: Callable[[Strip, Console], str]) -> Callable[[Strip, Console], str]:
    def rendered(strip: Strip, console: Console) -> str:
        if strip._render_cache is None and not all(map(_is_harmless, strip)):
            strip._render_cache = render(Strip(_safe(strip)), console)
        return render(strip, console)

    return rendered


def install() -> None:
    """Put the door before Textual's only way from a strip to bytes. Safe to call again."""
    if not getattr(Strip, "_passes_the_last_door", False):
        Strip.render = _renders(Strip.render)  # type: ignore[method-assign,assignment]
        Strip._passes_the_last_door = True  # type: ignore[attr-defined]
