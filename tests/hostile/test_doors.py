"""Each item through the doors that all texts pass: cleaning, the tag reader, the store of facts, the terminal."""

from __future__ import annotations

import json
import random

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from milk_tui.agents.tool_round import plain_call
from milk_tui.core import blocks, cuts, digest, perception, perception_harness, percepts
from milk_tui.core.bricks import need_line
from milk_tui.core.errors import PerceptRefusedError
from milk_tui.core.records import Layer, RouteDecision, ToolCall, ToolStatus
from milk_tui.core.secret_scan import masked, secret_kind
from milk_tui.core.text import StreamCleaner, clean, one_line, spelled_out
from milk_tui.core.text_tools import TextToolParser
from milk_tui.core.tool_calls import arguments_of
from milk_tui.core.visible import visible
from milk_tui.engine.answer import Answer
from milk_tui.modelhost.protocol import ToolCallMade
from milk_tui.store import rows
from milk_tui.tools import my_memory
from milk_tui.ui import last_door
from milk_tui.ui.transcript import compose
from milk_tui.ui.transcript.parts import tool_summary
from tests.data.hostile import Item, items
from tests.hostile.watch import Output, cells, in_words, unseen

NONCE, OTHER = "abc123", "xyz789"
SEEDS = (1, 2, 3)
each = pytest.mark.parametrize("item", items(), ids=lambda item: item.id)


def pieces(text: str, seed: int) -> list[str]:
    """The text cut at random places, small and large pieces mixed."""
    chosen = random.Random(f"{seed} {len(text)}")
    cut, at = [], 0
    most = 24 if len(text) < 20_000 else 20_000
    while at < len(text):
        size = chosen.randint(1, most)
        cut.append(text[at : at + size])
        at += size
    return cut


@each
def test_a_cleaned_text_shows_all_that_is_in_it(item: Item) -> None:
    text = clean(item.text)
    assert in_words(text.replace("\n", "")) == set()
    assert clean(text) == text
    text.encode("utf-8")
    line = one_line(item.text, 200)
    assert len(line) <= 200
    assert len(line.splitlines()) <= 1


@each
def test_arguments_are_spelled_out_and_mean_the_same(item: Item) -> None:
    text = item.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    spelled = spelled_out(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(spelled) == {text: [text]}
    assert clean(spelled) == spelled
    for broken in map(spelled_out, (item.text, f'{{"x": "{item.text}')):
        assert clean(broken) == broken


@each
def test_a_streamed_text_is_cleaned_like_the_whole(item: Item) -> None:
    for seed in SEEDS:
        cleaner = StreamCleaner()
        assert "".join([*map(cleaner.feed, pieces(item.text, seed)), cleaner.close()]) == clean(item.text)


@each
@pytest.mark.parametrize("nonce", ["zzzzzz", OTHER], ids=["no one's", "the other agent's"])
def test_nothing_is_captured_and_no_nonce_shown_however_the_answer_is_cut(item: Item, nonce: str) -> None:
    text = item.text.replace("zzzzzz", nonce)
    shown = set()
    for seed in SEEDS if not item.long else SEEDS[:1]:
        answer = Answer(NONCE, [OTHER])
        captured = [capture for piece in pieces(text, seed) for capture in answer.feed(piece)[1]]
        captured += answer.close()[1]
        assert captured == []
        assert answer.chars == len(answer.text)
        assert OTHER not in answer.text
        shown.add(answer.text)
    assert len(shown) == 1


@each
def test_a_fact_is_one_line_that_can_not_end_its_block_or_it_is_refused(item: Item) -> None:
    try:
        content = percepts.admit(item.text, nonces=(NONCE, OTHER))
    except PerceptRefusedError as refused:
        assert item.text[:20] not in str(refused) or len(item.text.strip()) < 3
        return
    assert "\n" not in content and "<milk:" not in content.lower()
    assert in_words(content) == set()
    assert cuts.escape(content).count("[/") == content.count("[/")
    assert not cuts._label.search(cuts.escape(content))


@each
def test_no_block_for_an_agent_is_closed_or_begun_from_within(item: Item) -> None:
    text = blocks.safe(item.text[:20_000])
    assert not cuts._label.search(text)
    assert blocks.safe(text) == text
    assert in_words(text.replace("\n", "")) == set()
    assert "\n" not in need_line(item.text[:20_000])
    for entry in perception.parse(Layer.FRAME, item.text[:20_000]):
        tidy = blocks.tidy(entry)
        assert "\n" not in tidy.key
        assert not any(map(cuts._label.search, (tidy.key, tidy.value, tidy.reason, tidy.blocker)))


@each
def test_what_a_person_decides_about_is_spelled_out(item: Item) -> None:
    shown = visible(item.text[:20_000])
    assert unseen(shown.replace("\n", "").replace("\t", "")) <= {f"U+{code:04X}" for code in range(0xFE00, 0xFE10)} | {
        f"U+{code:04X}" for code in range(0xE0100, 0xE01F0)
    }


@each
def test_it_is_no_secret_and_scanning_ends(item: Item) -> None:
    assert secret_kind(item.text) is None
    assert masked(masked(item.text)) == masked(item.text)


@each
def test_what_is_drawn_takes_the_cells_that_were_reckoned_and_brings_no_sequence(item: Item) -> None:
    text = item.text[:20_000]
    drawn = last_door.drawn(text)
    assert cells(drawn) == cell_len(text)
    assert unseen(drawn) == set()


@each
def test_a_strip_of_it_becomes_bytes_that_only_colour(item: Item) -> None:
    last_door.install()
    console = Console(color_system="truecolor", force_terminal=True)
    text = item.text[:2_000]
    strip = Strip([Segment(text, Style(bold=True, link=text)), Segment(text)])
    output = Output()
    output.feed(strip.render(console).encode("utf-8"))
    assert output.harm == []
    assert all(link.lower().startswith(("http://", "https://", "mailto:")) for link in output.links)
    assert strip.text == text * 2


@each
def test_a_call_written_as_text_is_only_one_of_a_tool_that_is_there(item: Item) -> None:
    reader = TextToolParser(("read_file",))
    for piece in pieces(item.text[:20_000], 1):
        reader.feed(piece)
    reader.close()
    assert not [call for call in reader.calls if call.name == "read_file"]


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000], ids=range(3))
def test_what_nests_without_end_is_text_that_can_not_be_read(deep: str) -> None:
    """A model can write it as the arguments of a call, and everything that reads calls meets it again in every turn."""
    call = ToolCall(id=1, leg_id=1, call_id="c", name="read_file", status=ToolStatus.OK, started_ms=1, arguments=deep)
    assert perception_harness.call_words(call)
    assert list(perception_harness.files_of(call, "")) == []
    assert tool_summary(deep)
    assert compose._pretty(deep[:20_000])[0] == deep[:20_000]
    assert my_memory.shown_arguments(deep) == '{"section":"?"}'
    assert digest._told(call.arguments[:400])
    assert rows.known(deep, RouteDecision) is None
    made = plain_call(ToolCallMade(id=1, index=0, call_id="c", name="read_file", arguments=deep), set())
    assert arguments_of(made.arguments) is None
