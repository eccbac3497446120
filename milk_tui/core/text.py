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

import json
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
    f"\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff{_SELECTORS}"  # emoji
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
)
_UNDECIDED = rf"\r|{_CONTROL}{_PARAMETERS}|(?P<string>{_STRING}{_BODY}\x1b?)|\x1b[ -/]{{0,4}}+"

_suspicious = re.compile(f"[\r\u2028\u2029{_JOINERS}{_SELECTORS}{_INVISIBLE}]").search
_suspicious_ascii = re.compile("[\x00-\x08\x0b-\x1f\x7f]").search
_hostile = re.compile(_HOSTILE)
_hostile_so_far = re.compile(rf"(?P<wait>(?:{_UNDECIDED})\Z)|{_HOSTILE}")
_stray_joiner = re.compile(f"(?<![{_SHAPING}])[{_JOINERS}]|[{_JOINERS}](?![{_SHAPING}])")
_selector_run = re.compile(f"(?<=[{_SELECTORS}])[{_SELECTORS}]+")
_to_spell = re.compile(f"[\r\u2028\u2029{_INVISIBLE}]|{_stray_joiner.pattern}|{_selector_run.pattern}")
_shapes = re.compile(f"[{_SHAPING}]").match
_selects = re.compile(f"[{_SELECTORS}]").match
_A_SHAPING, _A_SELECTOR, _A_PLAIN = "\u2600", "\ufe0f", "-"
_ends_a_string = re.compile("[\x00-\x1f\x7f-\x9f]").search
_surrogate = re.compile("[\ud800-\udfff]").search


def clean(text: str) -> str:
    """The text without anything that a terminal or a reader's eye could be misled by; see the module."""
    if not _is_suspicious(text):
        return text
    kept = _hostile.sub(_replacement, _pairs_joined(text))
    return _selector_run.sub("", _stray_joiner.sub("", kept))


def one_line(text: str, limit: int) -> str:
    """The cleaned text with white space folded to single spaces, cut to ``limit`` code points with ``…``."""
    line = " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rstrip(" " + _JOINERS) + "…" if limit > 0 else ""


def spelled_out(text: str) -> str:
    """JSON text in which every character that ``clean`` takes out stands as its escape: the same value, harmless as it
    is. Half a surrogate pair, which is no text, becomes U+FFFD."""
    if not _is_suspicious(text):
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _to_spell.sub(lambda found: json.dumps(found.group())[1:-1], whole)


class StreamCleaner:
    """``clean`` for text that arrives in pieces: the pieces' results joined are ``clean`` of the whole.

    A sequence that is not complete yet is held back: at most ``SEQUENCE_CHARS``, never past its line.
    """

    __slots__ = ("_half", "_held", "_held_chars", "_in_string", "_joiner", "_read", "_shown")

    def __init__(self) -> None:
        self._half = ""  # the first half of a surrogate pair
        self._held: list[str] = []  # pieces of a sequence
        self._held_chars = 0
        self._in_string = False
        self._joiner = ""  # a joiner that waits for what it joins
        self._read = ""  # the last character outside sequences
        self._shown = ""  # the last character given out

    def feed(self, chunk: str) -> str:
        """The next piece of clean text; may be empty while a sequence is open."""
        if not chunk:
            return ""
        if self._half or _is_suspicious(chunk):
            chunk = self._half + chunk
            self._half = chunk[-1] if "\ud800" <= chunk[-1] <= "\udbff" else ""
            chunk = _pairs_joined(chunk[:-1] if self._half else chunk)
        elif not self._held and not self._joiner:
            self._read = self._shown = chunk[-1]
            return chunk
        if self._in_string and self._held_chars + len(chunk) <= SEQUENCE_CHARS and not _ends_a_string(chunk):
            self._held.append(chunk)
            self._held_chars += len(chunk)
            return ""
        return self._shape(self._without_sequences(chunk, _hostile_so_far), last=False)

    def close(self) -> str:
        """What was held back, cleaned as the end of the text; the cleaner is then as new."""
        rest = self._shape(self._without_sequences("", _hostile), last=True)
        self._half = self._read = self._shown = ""
        return rest

    def _without_sequences(self, chunk: str, pattern: re.Pattern[str]) -> str:
        text = "".join((*self._held, chunk))
        self._held.clear()
        self._held_chars = 0
        self._in_string = False
        kept: list[str] = []
        position = 0
        for found in pattern.finditer(text):
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
        return "".join(kept)

    def _shape(self, text: str, *, last: bool) -> str:
        text = self._joiner + text
        self._joiner = ""
        if not text:
            return ""
        if text[-1] in _JOINERS and not last and _shapes((self._read + text)[-2:-1]):
            self._joiner = text[-1]
            text = text[:-1]
        before = _A_SHAPING if _shapes(self._read) else _A_PLAIN
        kept = _stray_joiner.sub("", before + text)[1:]
        before = _A_SELECTOR if _selects(self._shown) else _A_PLAIN
        kept = _selector_run.sub("", before + kept)[1:]
        self._read = text[-1:] or self._read
        self._shown = kept[-1:] or self._shown
        return kept


def _is_suspicious(text: str) -> bool:
    return bool(_suspicious_ascii(text) if text.isascii() else _suspicious(text))


def _pairs_joined(text: str) -> str:
    """Surrogate pairs as the characters that they mean, lone surrogates left out."""
    if not _surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _replacement(found: re.Match[str]) -> str:
    return "\n" if found.lastgroup == "line" else ""
