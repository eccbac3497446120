"""Recognising a fact that is not evidence but an order, or that carries something on (``recall.md``, "Safety").

What is recognised goes into quarantine, where the person approves or rejects it with one key. Facts of the person's
own channel are not scanned. There are two measures:

- A fact from trusted work may say how things are done here ("always run the tests before you push"); it is held only
  when it orders what is dangerous by itself: to drop one's instructions, to claim another's voice or consent, to reveal
  secrets, to send away what the session holds, to run what was downloaded, to destroy, to switch off a protection, to
  hide something from the person.
- A tainted fact (web, MCP, files from outside, an import) may say how things are done too ("use two spaces in YAML");
  it is held also when it tells an agent how to answer, what to install or where to go.

A prohibition ("never disable TLS verification") is a rule of the project, not an order to do it. The time is linear in
the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from milk_tui.core.disguise import hides_text, views
from milk_tui.core.order_patterns import ALWAYS, IN_TAINTED, UNLESS_PROHIBITED, URGED, URGED_CHARS, Wording

HIDDEN = "holds text that only a machine reads"
CREDENTIAL = "has a credential in an address"
ENCODED = "holds a long encoded text"

BASE64_CHARS = 120
"""From this length on a run of base64 is something carried, not a value that a fact names."""

_STANDS_FOR_A_VALUE = (
    r"(?![<$%{\[(*•.]|x{3,}|your|my[-_]|example|changeme|placeholder|redacted|none\b|null\b|token\b|key\b|secret\b"
    r"|pass(?:word)?\b|pwd\b|pw\b)"
)
_CREDENTIAL_URLS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b[a-z][a-z0-9+.-]{{1,30}}://[^\s:/@]{{0,64}}:{_STANDS_FOR_A_VALUE}[^\s/@]{{3,200}}@[^\s/]",
        r"\b[a-z][a-z0-9+.-]{1,30}://(?=[^\s:/@]{0,40}\d)[a-z0-9_-]{20,200}@[^\s/]",
        r"[?&#;](?:(?:access|id|refresh|auth|session)?_?token|api[_-]?key|key|(?:client_)?secret|password|passwd"
        r"|pwd|auth"
        r"|sig|signature|x-(?:amz|goog)-(?:signature|credential)|jwt|session_?id|sas)="
        rf"{_STANDS_FOR_A_VALUE}[a-z0-9%._~+/=-]{{8,}}",
    )
)
_LONG_CODE = re.compile(r"[A-Za-z0-9+/_-]{40,}={0,2}(?:(?:\\[rn]|[ \n]){1,2}[A-Za-z0-9+/_-]{20,}={0,2})*")
_LONG_ESCAPES = re.compile(
    r"(?=[a-fA-F]{0,40}\d)[0-9a-fA-F]{200}|(?:[0-9a-fA-F]{2}[ :]){60}|(?:\\x[0-9a-fA-F]{2}){30}|(?:%[0-9a-fA-F]{2}){40}"
    r"|(?:\\u[0-9a-fA-F]{4}){20}"
)
_PROHIBITED = re.compile(
    r"\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|may not|not allowed to|forbidden to"
    r"|refuses? to|nie|niemals|nicht|jamais|nunca) "
    r"(?:[\w/-]{1,30},? ){0,5}\Z"
)
_URGES = re.compile(r"(?:hesitate|forget|fail|wait|ask|worry|mind|stop|be afraid)\b")
"""After "never", these make the order stronger."""
_CLAUSE_END = re.compile(r"[.;:!?]")

KINDS = tuple(
    dict.fromkeys(
        (HIDDEN, *(wording.kind for wording in (*ALWAYS, *UNLESS_PROHIBITED)), CREDENTIAL, ENCODED, IN_TAINTED[0].kind)
    )
)
"""What ``looks_like_order`` can answer."""


def looks_like_order(text: str, *, tainted: bool = False) -> str:
    """Why the fact belongs in quarantine, in words that follow "it …"; empty when it doesn't.

    ``text`` is best given as it came, before what is invisible was removed. ``tainted`` is the stricter measure.
    """
    if hides_text(text):
        return HIDDEN
    readings = views(text)
    for reading in readings:
        for wording in ALWAYS:
            if any(True for _ in _places(wording, reading)):
                return wording.kind
        for wording in UNLESS_PROHIBITED:
            if any(not _is_prohibited(reading, at) for at in _places(wording, reading)):
                return wording.kind
    if any(pattern.search(text) for pattern in _CREDENTIAL_URLS):
        return CREDENTIAL
    if _carries_code(text):
        return ENCODED
    if tainted:
        for reading in readings:
            for wording in IN_TAINTED:
                if any(True for _ in _places(wording, reading)):
                    return wording.kind
    return ""


def _places(wording: Wording, text: str) -> Iterator[int]:
    """Where the wording stands, as an order when it counts only as one."""
    found = wording.pattern.search(text)
    while found:
        at = found.start()
        if not wording.urged or URGED.search(text, max(0, at - URGED_CHARS), at):
            yield at
        found = wording.pattern.search(text, at + 1)


def _carries_code(text: str) -> bool:
    """True for a run of base64 of ``BASE64_CHARS`` or more, wrapped or not, and for as long a run of escapes.

    A path or a digest is not one: base64 of that length has capitals, small letters and digits, of all kinds.
    """
    for found in _LONG_CODE.finditer(text):
        run = "".join(char for char in found.group() if char not in " \n")
        kinds = (any(c.isupper() for c in run), any(c.islower() for c in run), any(c.isdigit() for c in run))
        if len(run) >= BASE64_CHARS and all(kinds) and len(set(run)) > 16:
            return True
    return bool(_LONG_ESCAPES.search(text))


def _is_prohibited(text: str, at: int) -> bool:
    """True when the clause says not to do what is matched at ``at``."""
    clause = _CLAUSE_END.split(text[max(0, at - URGED_CHARS) : at])[-1]
    return bool(_PROHIBITED.search(clause.rstrip(" ,") + " ")) and not _URGES.search(clause)
