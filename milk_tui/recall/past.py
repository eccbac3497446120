"""Is a question about what was? Then facts that were replaced may answer it (``recall.md``, "Writing a fact")."""

from __future__ import annotations

import re

_CUES = re.compile(
    r"""\b(?:
        before | previous(?:ly)? | former(?:ly)? | earlier | prior | original(?:ly)? | initial(?:ly)?
        | used\ to | at\ first | back\ (?:in|then|when) | in\ the\ past | at\ the\ time | those\ days
        | no\ longer | any\ ?more | until | history\ of | old(?:er)? | at\ the\ beginning | first\ version
        | last\ (?:year|month|week|spring|summer|autumn|fall|winter)
        | (?:first|second)\ half\ of | (?:in|during|of|since|from)\ (?:\w+\ )?(?:19|20)\d\d
        | (?:what|which|where|who|how(?:\ \w+)?)\ (?:\w+\ ){0,3}(?:was|were|did)
        | (?:did|had)\ (?:we|i|you|they|it) | start(?:ed)?\ with
        | früher | vorher | damals | ursprünglich | ehemals | avant | autrefois | antes | originalmente
    )\b | 以前 | 之前 | 原来 | 以前の | раньше""",
    re.IGNORECASE | re.VERBOSE,
)
_READ_CHARS = 4_000


def asks_about_the_past(text: str) -> bool:
    return _CUES.search(text[:_READ_CHARS]) is not None
