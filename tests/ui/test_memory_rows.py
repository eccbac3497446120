"""Facts as rows: groups and order, what stands in a line wide or narrow, and heights that are what is drawn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from milk_tui.core.cleanup import Candidates, CleanUp
from milk_tui.core.records import (
    Consumer,
    Layer,
    Percept,
    PerceptionEntry,
    PerceptScope,
    PerceptStatus,
    Producer,
)
from milk_tui.store.percept_edges import Conflict
from milk_tui.ui import fact_rows
from milk_tui.ui.fact_book import FactBook
from milk_tui.ui.fact_plot import ROWS, weight_plot
from milk_tui.ui.fact_rows import FactRow, Seen
from milk_tui.ui.fact_views import CleanUpView, FoundView
from milk_tui.ui.paint import cells, plain
from tests.ui.samples import NOW, percept

NARROW, WIDE, WIDEST = 40, 80, 130


def book(*facts: Percept, all_groups: bool = False, pinned_bytes: int | None = None) -> FactBook:
    made = FactBook(all_groups=all_groups, pinned_bytes=pinned_bytes)
    for _ in made.load(facts):
        pass
    return made


def drawn(made: FactBook, width: int = NARROW, seen: Seen | None = None) -> list[str]:
    seen = seen or Seen(find=made.percepts.get)
    lines = []
    for row in made.rows(width)[0]:
        lines += row.lines(width, seen) if isinstance(row, FactRow) else row.lines(width)
    return [plain(line).rstrip() for line in lines]


def headings(made: FactBook, width: int = WIDE) -> list[str]:
    return [plain(row.lines(width)[-1]).rstrip() for row in made.rows(width)[0] if row.key.startswith("group:")]


def texts(made: FactBook) -> list[str]:
    return [row.percept.content for row in made.rows(WIDE)[0] if isinstance(row, FactRow)]


def test_facts_stand_in_groups_the_weightiest_first() -> None:
    made = book(
        percept(1, "light", weight=300),
        percept(2, "heavy", weight=800),
        percept(3, "everywhere", scope=PerceptScope.GLOBAL),
        percept(4, "always", pinned=True, weight=1000),
    )
    assert [line.strip() for line in drawn(made)] == [
        "★ PINNED 1",
        "★ always",
        "#000000 ● qwen ▰▰▰▰ 1.00",
        "",
        "SESSION 2",
        "heavy",
        "#000000 ● qwen ▰▰▰▱ 0.80",
        "light",
        "#000000 ● qwen ▰▱▱▱ 0.30",
        "",
        "GLOBAL 1",
        "everywhere",
        "#000000 ● qwen ▰▰▰▱ 0.70",
    ]


def test_a_wide_list_is_a_table() -> None:
    fact = percept(1, "retries live in the queue", consumer=Consumer.ESCALATION, producer=Producer.USER, agent_name="")
    [_, line] = drawn(book(fact), WIDE)
    assert line.split() == ["#000000", "retries", "live", "in", "the", "queue", "▰▰▰▱", "0.70", "❯", "→◆"]
    assert "you" in drawn(book(fact), WIDEST)[1]


def test_a_narrow_row_says_whom_the_fact_is_for_and_what_became_of_it() -> None:
    text = "\n".join(
        drawn(
            book(
                percept(1, "for one", consumer=Consumer.ESCALATION),
                percept(2, "old", status=PerceptStatus.SUPERSEDED, superseded_by="1c000000-1"),
                percept(3, "gone", status=PerceptStatus.FORGOTTEN),
                percept(4, "fresh", status=PerceptStatus.STAGED),
            ),
            60,
        )
    )
    for part in ("→◆", "→ #1c0000", "forgotten, u undoes", "new", "SESSION 2"):
        assert part in text


def test_the_browser_has_a_group_for_everything_that_became_of_a_fact() -> None:
    new = percept(9, "the shop moved to ScyllaDB")
    made = book(
        new,
        percept(1, "pinned", pinned=True),
        percept(2, "unsure", status=PerceptStatus.SUSPECT),
        percept(3, "held back", status=PerceptStatus.QUARANTINED),
        percept(4, "everywhere", scope=PerceptScope.GLOBAL),
        percept(5, "the shop uses Postgres", status=PerceptStatus.SUPERSEDED, superseded_by=new.id),
        percept(6, "gone", status=PerceptStatus.FORGOTTEN, pinned=True),
        all_groups=True,
    )
    made.set_decisions((), [PerceptionEntry(layer=Layer.INVARIANT, key="stack", value="go", proposed=True)])
    assert [heading.split("  ")[0] for heading in headings(made)] == [
        "★ PINNED 1",
        "? SUSPECT 1",
        "! QUARANTINED 1",
        "+ PROPOSED 1",
        "SESSION 1",
        "GLOBAL 1",
        "SUPERSEDED 1",
        "FORGOTTEN 1",
    ]
    assert made.undecided == 3
    assert "→ #000000 the shop moved to ScyllaDB" in "\n".join(drawn(made, WIDE))
    looks = {
        look for row in made.rows(WIDE)[0] for line in row.lines(WIDE) for text, look in line if "Postgres" in text
    }
    assert looks == {"struck"}


def test_the_two_of_an_undecided_pair_are_joined_and_shown_once() -> None:
    new, old = percept(2, "new", status=PerceptStatus.SUSPECT), percept(1, "old")
    made = book(new, old, all_groups=True)
    made.set_decisions([Conflict(newer=new, older=old)], ())
    assert texts(made) == ["new", "old", "old"]
    text = "\n".join(drawn(made, WIDE))
    assert "╭" in text and "╰" in text and "newer" in text
    keys = [row.key for row in made.rows(WIDE)[0]]
    assert len(set(keys)) == len(keys)
    assert made.conflict_of(keys[1]) is made.conflict_of(keys[2]) is made.conflicts[0]
    assert made.undecided == 1


def test_the_room_of_pinned_facts_is_said_and_what_does_not_fit_is_marked() -> None:
    facts = [percept(n, "x" * 300, pinned=True, weight=1000, confirmed_ms=n) for n in range(4)]
    assert "of 1,024 bytes" in headings(book(facts[0], all_groups=True, pinned_bytes=1_024))[0]
    assert "bytes" not in headings(book(facts[0], pinned_bytes=1_024))[0]
    full = book(*facts, pinned_bytes=1_024)
    assert "full: 1 is not given" in headings(full)[0]
    seen = Seen(left_out=full.room.left_out)
    assert "\n".join(drawn(full, WIDE, seen)).count("no room") == 1
    full.put(replace(facts[0], pinned=False, weight=700))
    assert "full" not in headings(full)[0]


def test_marks_show_their_order() -> None:
    facts = [percept(n, f"fact {n}") for n in (1, 2)]
    for width in (NARROW, WIDE):
        text = "\n".join(drawn(book(*facts), width, Seen(marks={facts[0].id: 1, facts[1].id: 2})))
        assert "✓1" in text and "✓2" in text


def test_found_facts_have_scores_and_a_mark_when_they_would_be_given() -> None:
    one, two = percept(1, "one"), percept(2, "two")
    view = FoundView("wo\x1b[31mrds", ((one, 0.91), (two, 0.2)), frozenset({one.id}), "qwen", "fts")
    rows = view.rows(book(one, two))
    title = plain(rows[0].lines(WIDE)[0])
    assert title == "2 facts for “words”  qwen would be given ▸ 1 · fts"
    seen = Seen(scores=view.scores())
    assert ["0.91" in plain(row.lines(WIDE, seen)[0]) for row in rows[1:]] == [True, False]
    assert ["▸" in plain(row.lines(WIDE, seen)[0]) for row in rows[1:]] == [True, False]
    assert "0.91" in plain(rows[1].lines(NARROW, seen)[1])


def test_facts_that_belong_together_in_a_clean_up_are_joined() -> None:
    facts = [percept(n, f"copy {n}") for n in range(3)]
    view = CleanUpView(Candidates(kind=CleanUp.LOOK_ALIKES, groups=(tuple(facts), (percept(9, "alone"),))))
    made = view.rows(book())
    assert [plain(row.lines(WIDE)[0])[2] for row in made[1:]] == ["╭", "│", "╰", " "]


CONTENT = st.one_of(st.text(max_size=200), st.sampled_from(["短い" * 30, "x" * 300, "e\u0301 " * 50, "word " * 200]))


@given(
    CONTENT,
    st.sampled_from(PerceptStatus),
    st.booleans(),
    st.booleans(),
    st.integers(min_value=8, max_value=200),
    st.booleans(),
)
def test_heights_are_what_is_drawn_and_no_line_is_too_long(content, status, pinned, tainted, width, full) -> None:
    fact = percept(1, content, status=status, pinned=pinned, tainted=tainted, superseded_by="ab" * 8)
    row = FactRow(fact)
    seen = Seen(
        marks={fact.id: 12},
        left_out=frozenset({fact.id} if full else ()),
        scores={fact.id: 1.5} if full else {},
        find=lambda id_: percept(2, "x" * 500),
    )
    lines = row.lines(width, seen)
    assert len(lines) == row.height(width) == fact_rows.heights([row], width)[0]
    if width >= fact_rows.WIDE:
        assert all(cells(line) <= width for line in lines)
    assert "\x1b" not in "".join(plain(line) for line in lines)


def test_hostile_text_does_no_harm() -> None:
    text = "".join(drawn(book(percept(1, "word " * 200 + "\x1b[31m\u202e[bold]x\ny"))))
    assert "\x1b" not in text and "\u202e" not in text and "\n" not in text


STATUSES = st.sampled_from(PerceptStatus)
CHANGES = st.lists(
    st.tuples(st.integers(0, 9), STATUSES, st.integers(0, 1000), st.booleans(), st.booleans(), st.booleans()),
    max_size=40,
)


@given(CHANGES, st.booleans())
def test_a_book_that_follows_changes_is_the_one_that_is_made_anew(changes, all_groups) -> None:
    followed = FactBook(all_groups=all_groups)
    followed.rows(WIDE)
    known: dict[str, Percept] = {}
    for number, status, weight, pinned, everywhere, removed in changes:
        fact = percept(
            number,
            f"fact {number}",
            status=status,
            weight=weight,
            pinned=pinned,
            scope=PerceptScope.GLOBAL if everywhere else PerceptScope.SESSION,
            confirmed_ms=number,
            updated_ms=number,
        )
        known.pop(fact.id, None)
        if removed:
            followed.drop(fact.id)
        else:
            followed.put(fact)
            known[fact.id] = fact
    anew = book(*known.values(), all_groups=all_groups)
    assert texts(followed) == texts(anew)
    assert followed.rows(WIDE)[1] == anew.rows(WIDE)[1]
    assert headings(followed) == headings(anew)
    assert followed.rows(NARROW)[1] == [row.height(NARROW) for row in followed.rows(NARROW)[0]]


def test_a_load_changes_nothing_before_it_is_done() -> None:
    made = book(percept(1, "before"))
    steps = made.load([percept(n, f"fact {n}") for n in range(50)], slice_size=10)
    next(steps)
    made.put(percept(2, "meanwhile"))
    assert texts(made) == ["meanwhile", "before"]
    for _ in steps:
        pass
    assert len(texts(made)) == 50


def test_the_plot_shows_every_change_and_its_days() -> None:
    lines = weight_plot([(NOW, 1000), (NOW + 86_400_000, 500), (NOW + 2 * 86_400_000, 20)], 60)
    bars = [plain(line)[5:] for line in lines[:ROWS]]
    assert len(lines) == ROWS + 1
    assert bars[0] == "█" * 8 + " " * 16
    assert bars[2] == "█" * 16 + "▁" * 8
    days = plain(lines[-1]).split()
    assert len(days) == 2 and days[0] < days[1]


@given(st.lists(st.tuples(st.integers(0, 10**13), st.integers(0, 1000)), max_size=300), st.integers(0, 120))
def test_the_plot_never_takes_more_room_than_there_is(points, width) -> None:
    for line in weight_plot(points, width):
        assert cell_len(plain(line)) <= width or width < 30
