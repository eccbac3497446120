"""Making text from models, files and people harmless to show, whole or as a stream.

What is taken out, and why (``quality.md`` "hostile text", ``semantics.md`` §2 "stored text is data"):

- Terminal sequences: control sequences (CSI), control strings (OSC, DCS, APC, PM, SOS), short escapes. One
  that is complete on its line within ``SEQUENCE_CHARS`` goes whole. One that isn't loses its introducer and
  the rest stays as text, so that nothing can swallow an answer. The 8-bit introducers count too; a string
  body may hold no other control character, so wrongly decoded text (such code points come in pairs there)
  is not taken for one.
- ESC in every other place, C0 controls except line feed and tab, DEL, C1.
- CR LF, a lone CR, U+2028 and U+2029 become a line feed: a CR would let one text paint over another.
- Direction controls (U+061C, U+200E/F, U+202A–202E, U+2066–206F): they make a line read as what it isn't.
- Invisible characters (U+00AD, U+200B, U+2060–2064, U+FEFF, U+FFF9–FFFB) and the tag characters
  U+E0000–E007F, which carry hidden prompts (the three flags spelled with them become a plain black flag).
- U+200C and U+200D, except between two characters that are shaped by them (a Persian word, a family of
  emoji).
- A variation selector after another one: one chooses a glyph, a run of them carries hidden bytes.
- Lone surrogates. The halves of a pair are joined first: streams of JSON cut emoji in two.

All of it is idempotent, and costs one regular expression search when nothing is there to remove.
"""

from __future__ import annotations

import re

SEQUENCE_CHARS = 4096
"""The longest body of a terminal sequence, in characters; what is longer is text."""

_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_INVISIBLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_SHAPING = (
    "\u0600-\u061b\u061d-\u06ff\u0700-\u085f\u0860-\u0dff"  # Arabic to Sinhala
    "\u1000-\u109f\u1780-\u18af\u1b00-\u1b7f\ua840-\ua87f\ua980-\ua9df\ufb50-\ufdff\ufe70-\ufefc"
    "\U00011000-\U0001147f\U0001e900-\U0001e95f"
    "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"  # emoji
)

_PARAMETERS = f"[0-?]{{0,{SEQUENCE_CHARS}}}+[ -/]{{0,16}}+"
_BODY = f"[^\x00-\x1f\x7f-\x9f]{{0,{SEQUENCE_CHARS}}}+"
_CONTROL = r"(?:\x1b\[|\x9b)"
_STRING = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"

_HOSTILE = (
    rf"(?P<line>\r\n?|[\u2028\u2029])"
    rf"|{_CONTROL}{_PARAMETERS}[@-~]"
    rf"|{_STRING}{_BODY}(?:\x07|\x9c|\x1b\\)"
    r"|\x1b[ -/]{1,4}+[0-~]"
    r"|\x1b[6-9=>DEHMNOPVWXZ\[\\\]^_clmno|}~]"
    rf"|[{_INVISIBLE}]"
    rf"|(?<![{_SHAPING}])[{_JOINERS}]|[{_JOINERS}](?![{_SHAPING}])"
    rf"|(?<=[{_SELECTORS}])[{_SELECTORS}]"
)
_UNDECIDED = (
    rf"\r|{_CONTROL}{_PARAMETERS}|(?P<string>{_STRING}{_BODY}\x1b?)|\x1b[ -/]{{0,4}}+"
    rf"|[{_JOINERS}]"
)

_suspicious = re.compile(f"[\r\u2028\u2029{_JOINERS}{_SELECTORS}{_INVISIBLE}]").search
_suspicious_ascii = re.compile("[\x00-\x08\x0b-\x1f\x7f]").search
_hostile = re.compile(_HOSTILE)
_hostile_so_far = re.compile(rf"(?P<wait>(?:{_UNDECIDED})\Z)|{_HOSTILE}")
_ends_a_string = re.compile("[\x00-\x1f\x7f-\x9f]").search
_surrogate = re.compile("[\ud800-\udfff]").search


def clean(text: str) -> str:
    """The text without anything that a terminal or a reader's eye could be misled by; see the module."""
    if not _is_suspicious(text):
        return text
    return _hostile.sub(_replacement, _pairs_joined(text))


def one_line(text: str, limit: int) -> str:
    """The cleaned text with white space folded to single spaces, cut to ``limit`` code points with ``…``."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rstrip(" " + _JOINERS) + "…" if limit > 0 else ""


class StreamCleaner:
    """``clean`` for text that arrives in pieces: the pieces' results joined are ``clean`` of the whole.

    A sequence that is not complete yet is held back: at most ``SEQUENCE_CHARS``, never past its line.
    """

    __slots__ = ("_before", "_half", "_held", "_held_chars", "_in_string")

    def __init__(self) -> None:
        self._before = ""
        self._half = ""
        self._held: list[str] = []
        self._held_chars = 0
        self._in_string = False

    def feed(self, chunk: str) -> str:
        """The next piece of clean text; may be empty while a sequence is open."""
        if not chunk:
            return ""
        if self._half or _is_suspicious(chunk):
            chunk = self._half + chunk
            self._half = chunk[-1] if "\ud800" <= chunk[-1] <= "\udbff" else ""
            chunk = _pairs_joined(chunk[:-1] if self._half else chunk)
        elif not self._held:
            self._before = chunk[-1]
            return chunk
        if self._in_string and self._held_chars + len(chunk) <= SEQUENCE_CHARS and not _ends_a_string(chunk):
            self._held.append(chunk)
            self._held_chars += len(chunk)
            return ""
        return self._run(chunk, _hostile_so_far)

    def close(self) -> str:
        """What was held back, cleaned as the end of the text; the cleaner is then as new."""
        rest = self._run("", _hostile) if self._held else ""
        self._before = self._half = ""
        return rest

    def _run(self, chunk: str, pattern: re.Pattern[str]) -> str:
        text = "".join((self._before, *self._held, chunk))
        position = len(self._before)
        self._held.clear()
        self._held_chars = 0
        self._in_string = False
        kept: list[str] = []
        for found in pattern.finditer(text, position):
            kept.append(text[position : found.start()])
            position = found.end()
            match found.lastgroup:
                case "line":
                    kept.append("\n")
                case "wait":
                    self._held.append(found.group())
                    self._held_chars = len(found.group())
                    self._in_string = bool(found.group("string")) and not found.group().endswith("\x1b")
        kept.append(text[position:])
        consumed = len(text) - self._held_chars
        self._before = text[consumed - 1 : consumed]
        return "".join(kept)


def _is_suspicious(text: str) -> bool:
    return bool(_suspicious_ascii(text) if text.isascii() else _suspicious(text))


def _pairs_joined(text: str) -> str:
    """Surrogate pairs as the characters that they mean, lone surrogates left out."""
    if not _surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _replacement(found: re.Match[str]) -> str:
    return "\n" if found.lastgroup == "line" else ""
