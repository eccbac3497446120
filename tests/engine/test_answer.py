from __future__ import annotations

import pytest

from milk_tui.core.tags import TagKind
from milk_tui.engine.answer import Answer

NONCE, OTHER = "abc123", "zzz999"


def read(chunks: list[str]) -> tuple[str, list[str]]:
    answer = Answer(NONCE, [OTHER])
    bodies = [c.body for chunk in chunks for c in answer.feed(chunk)[1]]
    bodies += [c.body for c in answer.close()[1]]
    return answer.text, bodies


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_escapes_tags_and_nonces_go_however_the_answer_is_cut(size: int) -> None:
    text = (
        f"a\x1b[31mb <milk:percept:{NONCE}>fact</milk:percept:{NONCE}>"
        f"in code: `<milk:percept:{NONCE}>x</milk:percept:{NONCE}>` and {OTHER}!"
    )
    shown, facts = read([text[i : i + size] for i in range(0, len(text), size)])
    assert facts == ["fact"]
    assert shown == "ab in code: `<milk:percept:••••••>x</milk:percept:••••••>` and ••••••!"


def test_an_escape_can_not_hide_inside_a_tag() -> None:
    _, facts = read([f"<milk:per\x1b[0mcept:{NONCE}>f</milk:percept:{NONCE}>"])
    assert facts == ["f"]


def test_a_block_that_is_taken_back_leaves_what_stood_before_it() -> None:
    answer = Answer(NONCE, [])
    answer.feed("before abc")
    assert answer.mark() == "abc"
    _, said = answer.feed(f"gone <milk:need:{NONCE}>n</milk:need:{NONCE}> ab")
    assert [c.kind for c in said] == [TagKind.NEED]
    answer.rollback()
    assert answer.text == "before abc"
    answer.feed("again")
    answer.close()
    assert answer.text == "before abcagain"
    assert answer.chars == len(answer.text)


def test_thinking_shows_no_nonce() -> None:
    answer = Answer(NONCE, [])
    answer.think("the stamp is abc")
    answer.think("123 here")
    answer.close()
    assert answer.thinking == "the stamp is •••••• here"
