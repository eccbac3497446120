"""JSON that holds half a surrogate pair costs that character, not what stands around it."""

from __future__ import annotations

import msgspec
import pytest

from milk_tui.core import wild_json


def test_half_an_emoji_is_a_question_mark_and_the_rest_stays() -> None:
    assert wild_json.decode(b'{"text": "so \\ud83d far", "\\udc00": [1]}') == {"text": "so ? far", "?": [1]}
    assert wild_json.decode(b'"\\ud83e\\udd86"') == "🦆"


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": "\\ud83d"', b"NaN", b'["\\ud83d", NaN]', b'"\\u12"'])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        wild_json.decode(data)
