"""The conversation: reading, searching and copying in it, and who answers."""

from __future__ import annotations

import pytest

from milk_tui.ui.actions import Where
from tests.e2e.conftest import Place
from tests.e2e.keyboard.home import EDITOR, opened
from tests.e2e.keyboard.steps import BACK, CLEAR, REST, command, key, keys, press, say, see, to, walk_through, write

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

CODE = "SCN:think hmm SCN:say hello **world**\\n\\n```py\\nx = 1\\n```\\n\\nsee <https://example.org>"
REPLIES = (
    CODE,
    "SCN:say an answer in depth",
    "SCN:say an answer in more depth",
    "SCN:count 40 \\n\\nrow",
    "SCN:say another way",
    "SCN:say yet another way",
    "SCN:say once more",
)
STEPS = (
    say("greet me", "thinking 3 characters"),
    write("design it"),
    key("escalate", "escalated to deep", "you asked for it", "an answer in depth"),
    REST,
    key("escalate", "every prompt goes to deep now"),
    key("hand-back", "back to fast"),
    key("escalate", "every prompt goes to deep now"),
    command("hand-back", "", "back to fast"),
    command("escalate", "too shallow", "“too shallow”", "an answer in more depth"),
    REST,
    command("hand-back", "", "fast has the conversation already"),
    say("count", "row40"),
    key("page-up", "^end follows", gone="row40"),
    key("page-down", "row40", gone="^end follows"),
    key("page-up", "^end follows"),
    key("follow", "row40", gone="^end follows"),
    key("sidebar", gone="percepts"),
    command("sidebar", "", "nothing remembered yet"),
    key("search", "search in the conversation"),
    keys("row1", "11 of 11"),
    press("up", "10 of 11"),
    press("escape", gone="10 of 11"),
    BACK,
    command("search", "depth", "2 of 2"),
    press("escape", gone="of 2"),
    key("next-match", "1 of 2 places: depth"),
    key("previous-match", "2 of 2 places: depth"),
    press("ctrl+end", "row40"),
    key("previous-prompt", at="count"),
    key("previous-prompt", at="design it", nth=1),
    key("next-prompt", at="count"),
    key("previous-prompt", at="design it"),
    key("next-prompt", at="count", nth=1),
    key("previous-escalation", at="escalated to deep: “too shallow”"),
    key("previous-escalation", at="escalated to deep ━"),
    key("next-escalation", at="escalated to deep: “too shallow”"),
    key("block-above", at="design it"),
    key("block-below", at="escalated to deep: “too shallow”"),
    press("home", at="greet me"),
    press("j", at="│ greet me │"),
    press("j", at="● fast ·"),
    press("j", at="▸ thinking 3 characters │ hello"),
    key("toggle-fold", "hmm"),
    key("toggle-fold", gone="hmm", nth=1),
    key("block-below", at="hello world │"),
    key("copy-block", copied="hello **world**"),
    key("copy-code", copied="x = 1"),
    key("copy-answer", copied="see <https://example.org>"),
    key("links", "1 link", at="https://example.org"),
    press("escape", gone="1 link"),
    key("open-block", f"{EDITOR} hello **world**"),
    see("conversation"),
    key("quote-block", "❯ > hello **world**"),
    CLEAR,
    to(Where.CONVERSATION),
    key("ask-other", "another way"),
    REST,
    BACK,
    command("copy-answer", "", copied="another way"),
    command("ask-other", "", "yet another way"),
    REST,
    command("retry", "", "once more"),
    REST,
    command("explain-route", "design the locking", "escalation · deep · signals", "design +3"),
    command("explain-route", "", "primary · fast · primary"),
    command("agent", "openai/gpt-other", "◆ gpt-other", "is the escalation agent from the next turn on"),
    command("model", "openai/gpt-made", "to ● gpt-made", "is the primary agent from the next turn on"),
    command("agent", "", "model for the ◆ escalation"),
    press("escape", gone="model for the"),
    command("model", "", "model for the ● primary"),
    press("escape", gone="model for the"),
    to(Where.CONVERSATION),
    key("fork-here", "a copy to go another way with"),
)


def test_the_conversation(place: Place) -> None:
    place.replies(*REPLIES)
    with opened(place) as walk:
        walk_through(walk, STEPS)
