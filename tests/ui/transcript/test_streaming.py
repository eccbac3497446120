"""A running leg: what has arrived is shown, ends like the stored answer, and costs what it changes."""

from __future__ import annotations

import pytest

from milk_tui.core.records import Role, ToolStatus
from milk_tui.ui.transcript import (
    Banner,
    Entry,
    EntryBody,
    EntryKind,
    Fact,
    Header,
    Markdown,
    Outcome,
    Progress,
    ReceiptLine,
    Severity,
    Thinking,
    Tool,
    Transcript,
    Usage,
    interleave,
)
from tests.support.polling import until
from tests.ui.transcript.support import TranscriptApp, leg, painted, prompt, session, show

SIZE = (80, 30)
KEY = ("leg", 900)
HEAD = (
    Banner("claude", "needs a design across three services"),
    ReceiptLine("sent 5.1k chars: brief · need", "F3"),
    Header("claude", Role.ESCALATION, "14:03"),
)
ANSWER = (
    "# Plan\n\nThe *handler* retries.\n\n- one\n- two\n  - nested\n\n```python\ndef f():\n    return 1\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n2. y\n\nend"
)


def start(transcript: Transcript) -> None:
    transcript.append(Entry(KEY, EntryKind.LEG), EntryBody(HEAD), live=True)


async def test_a_leg_that_has_said_nothing_waits_visibly():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [])
        start(transcript)
        assert painted(transcript)[:5] == [
            "━━ ◆ escalated to claude: “needs a design across three services” ━━━━━━━━━",
            "   sent 5.1k chars: brief · need  [F3]",
            "",
            "◆ claude · 14:03",
            "⋯ waiting for the first words …",
        ]
        transcript.progress(KEY, Progress("loading the embedded model", 0.43))
        await until(lambda: painted(transcript)[4] == "⋯ loading the embedded model  ▰▰▰▰▱▱▱▱▱▱ 43 %")
        transcript.stream_text(KEY, "Hello")
        await until(lambda: painted(transcript)[4:7] == ["Hello", "", ""])


async def test_what_comes_for_an_entry_that_is_not_there_is_dropped():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [prompt(1, "q")])
        transcript.stream_text(("leg", 77), "lost")
        transcript.finish(("leg", 77), EntryBody(()))
        transcript.bodies_loaded([("leg", 77)])
        assert not transcript.document.live and transcript._timer is None


@pytest.mark.parametrize("size", [1, 3, 17, 400])
async def test_what_was_streamed_looks_like_what_is_stored(size):
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [])
        start(transcript)
        for at in range(0, len(ANSWER), size):
            transcript.stream_text(KEY, ANSWER[at : at + size])
            if at % 5 == 0:
                transcript._tick()
        transcript._tick()
        streamed = painted(transcript)
        body = EntryBody((*HEAD, Markdown(ANSWER)))
        transcript.finish(KEY, body)
        await until(lambda: not transcript.document.busy)
        finished = painted(transcript)
        transcript.load([Entry(KEY, EntryKind.LEG)], None)
        transcript.update(KEY, body)
        assert painted(transcript) == finished
        assert [row for row in streamed if row] == [row for row in finished if row]


async def test_tools_stand_where_they_happened():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [])
        start(transcript)
        transcript.stream_text(KEY, "Let me look.")
        transcript.tool_started(KEY, Tool("t1", "read_file", '{"path": "handler.py"}'))
        transcript._tick()
        assert "  ▸ read_file handler.py  running …" in painted(transcript)
        transcript.tool_finished(KEY, "t1", ToolStatus.OK, "x\n" * 120)
        transcript.stream_text(KEY, "It retries.")
        transcript.tool_started(KEY, Tool("t2", "bash", "not json"))
        transcript.tool_finished(KEY, "t2", ToolStatus.FAILED, "no such file\nmore")
        transcript._tick()
        rows = [row for row in painted(transcript) if row][3:]
        assert rows == [
            "Let me look.",
            "  ▸ read_file handler.py  120 lines",
            "It retries.",
            "  ▸ bash not json  ✗ failed: no such file",
        ]
        tools = [
            (12, Tool("t1", "read_file", '{"path": "handler.py"}', "x\n" * 120, ToolStatus.OK)),
            (23, Tool("t2", "bash", "not json", "no such file\nmore", ToolStatus.FAILED)),
        ]
        transcript.finish(KEY, EntryBody((*HEAD, *interleave("Let me look.It retries.", tools))))
        assert [row for row in painted(transcript) if row][3:] == rows


async def test_many_calls_of_one_tool_are_one_line():
    calls = [Tool(n, "grep", f'{{"q": "w{n}"}}', "x", ToolStatus.OK) for n in range(4)]
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, *calls)])
        assert painted(transcript)[1] == "  ▸ grep w0  1 match  [3 more grep calls]"
        transcript.document.toggle(("leg", 1), ("group", 0))
        transcript.settle()
        assert painted(transcript)[1:6] == ["  ▾ 4 grep calls", *(f"  ▸ grep w{n}  1 match" for n in range(4))]


async def test_thinking_is_folded_and_counted():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [])
        start(transcript)
        transcript.stream_thinking(KEY, "a" * 1_000)
        transcript.stream_thinking(KEY, "b" * 240)
        transcript._tick()
        assert painted(transcript)[4] == "▸ thinking 1.2k characters"


async def test_text_that_is_taken_back_is_gone():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [])
        start(transcript)
        transcript.stream_text(KEY, "first words ")
        transcript.tool_started(KEY, Tool("t", "ls"))
        transcript.stream_text(KEY, "wrong words")
        transcript._tick()
        transcript.replace_text(KEY, "first words right")
        transcript.stream_text(KEY, " words")
        transcript._tick()
        rows = [row for row in painted(transcript) if row][3:]
        assert rows == ["first words", "  ▸ ls   running …", "right words"]


async def test_facts_outcome_and_usage_end_a_leg():
    parts = (
        Markdown("text"),
        Fact("retries live in the queue"),
        Fact("looks like a password", "not remembered", Severity.WARNING),
        Outcome("interrupted: the program ended", Severity.WARNING, "ask again"),
        Usage("1,204 in · 310 out"),
    )
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, *parts)])
        assert painted(transcript)[1:9] == [
            "text",
            "",
            "+ remembered: retries live in the queue",
            "▲ not remembered: looks like a password",
            "▲ interrupted: the program ended",
            "  → ask again",
            "1,204 in · 310 out",
            "",
        ]
        transcript.stream_text(("leg", 1), "")
        assert transcript.following


async def test_many_small_pieces_are_few_repaints():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(20))
        start(transcript)
        ticks = 0
        tick = transcript._tick

        def counted() -> None:
            nonlocal ticks
            ticks += 1
            tick()

        transcript._tick = counted  # type: ignore[method-assign]
        for n in range(2_000):
            transcript.stream_text(KEY, f"word{n} ")
        await until(lambda: any("word1999" in row for row in painted(transcript)))
        assert 1 <= ticks <= 6


async def test_what_is_settled_is_not_drawn_again():
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(40))
        start(transcript)
        for n in range(30):
            transcript.stream_text(KEY, f"paragraph {n}\n\n")
        transcript._tick()
        made = transcript.document.rows._made
        kept = {id(rows[1]) for rows in made.values()}
        transcript.stream_text(KEY, "and more")
        transcript._tick()
        new = [rows for rows in made.values() if id(rows[1]) not in kept]
        assert len(new) <= 2


@pytest.mark.parametrize(
    ("unit", "chars"),
    [
        pytest.param("word " * 200, 1_000_000, id="one line"),
        pytest.param("x" * 1_000, 1_000_000, id="one word"),
        pytest.param("y = 1\n" * 150, 1_000_000, id="fence"),
        pytest.param("- item\n" * 100, 200_000, id="list"),
        pytest.param("> q\n" * 200, 200_000, id="quote"),
        pytest.param("| a | b |\n" * 80, 200_000, id="table"),
    ],
)
async def test_a_block_that_never_ends_streams_and_stays_usable(unit, chars):
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, session(5))
        start(transcript)
        transcript.stream_text(KEY, "```\n" if "=" in unit else "| a | b |\n|---|---|\n" if "|" in unit else "")
        for n in range(chars // len(unit)):
            transcript.stream_text(KEY, unit)
            if n % 50 == 0:
                transcript._tick()
        transcript._tick()
        last = max(len(block.source) for block in transcript.document.layout(10).blocks)
        assert last <= 50_000
        await pilot.press("pageup")
        assert not transcript.following
        assert any(painted(transcript))


async def test_a_megabyte_in_one_piece_is_taken_in_step_by_step():
    text = "para *one* two three\n\n" * 45_000 + "the end"
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [])
        start(transcript)
        transcript.stream_text(KEY, text)
        transcript._tick()
        live = transcript.document.live[KEY]
        assert live.behind and painted(transcript)[-2] == "the end"
        cut = 0
        while live.behind:
            before = live.texts()[0]._splitter.tail
            transcript._tick()
            assert live.texts()[0]._splitter.tail - before <= 40_000
            cut += 1
        assert cut > 20
        assert painted(transcript)[-2] == "the end"
        assert len(transcript.document.layout(0).blocks) < 5_000


async def test_a_huge_stored_answer_is_there_at_once_and_cut_in_steps():
    text = "para *one* two three\n\n" * 20_000 + "the end"
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        pilot.app.query_one(Transcript)._work_later = lambda: None  # type: ignore[method-assign]
        transcript, _ = await show(pilot, [prompt(1, "q"), leg(1, text)])
        assert painted(transcript)[-2] == "the end"
        steps = 0
        while transcript.document.busy:
            transcript._work()
            steps += 1
        assert steps > 20
        assert painted(transcript)[-2:] == ["the end", ""]
        await pilot.press("home")
        assert painted(transcript)[3:5] == ["● qwen · 14:02", "para one two three"]


async def test_a_reader_stays_while_a_huge_answer_is_cut():
    text = "".join(f"para *{n}* two three\n\n" for n in range(20_000))
    async with TranscriptApp().run_test(size=SIZE) as pilot:
        transcript, _ = await show(pilot, [leg(1, text)])
        await pilot.press("home", "pagedown", "pagedown")
        top = painted(transcript)[0]
        while transcript.document.busy:
            transcript._work()
        assert painted(transcript)[0] == top


HOSTILE = "\x1b[2J\x1b]52;c;aGk=\x07[bold red]x[/] \u202eabc\x9b31m\r\nnext\x00 {markup} [@click=app.bell]y[/]"


async def test_hostile_text_is_text():
    parts = (
        Thinking(HOSTILE),
        Tool("t", HOSTILE, HOSTILE, HOSTILE, ToolStatus.FAILED),
        Markdown(HOSTILE),
        Markdown(f"```{HOSTILE}\n{HOSTILE}\n```\n\n| {HOSTILE} |\n|---|\n"),
        Fact(HOSTILE),
        Outcome(HOSTILE, Severity.ERROR, HOSTILE),
        Usage(HOSTILE),
        Progress(HOSTILE),
    )
    app = TranscriptApp()
    async with app.run_test(size=(80, 60)) as pilot:
        made = [leg(1, *parts), prompt(2, HOSTILE), (Entry(KEY, EntryKind.LEG), EntryBody((Banner(HOSTILE, HOSTILE),)))]
        transcript, _ = await show(pilot, made)
        for fold in (("thinking", 0), ("tool", "t")):
            transcript.document.toggle(("leg", 1), fold)
        transcript.stream_text(KEY, HOSTILE)
        transcript._tick()
        transcript.settle()
        for index in range(len(transcript.document.entries)):
            for block in transcript.document.layout(index).blocks:
                shown = "".join(row.text for row in transcript.document.rows.of(block))
                assert not {c for c in shown if ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e"}
        assert any("[bold red]x[/]" in row for row in painted(transcript))
        assert any("[@click=app.bell]y[/]" in row for row in painted(transcript))
