"""Which parts of people's Markdown are facts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.interop.memory_lists import CODE, GONE, LINK, PROSE, TABLE, TASK, Draft, parse

CLAUDE = """\
# Shop

This is a monorepo
using **pnpm**.

## Testing

- Run `pytest -q` before
  every push
- **Style**
  - use ruff
  - line length 120
- Never push on Fridays.
    - not even at noon

Commits:

1. imperative mood
2) one thing each

```sh
- not a fact
```

| a | b |
|---|---|

- [ ] write docs
- [x] the cache is warm
- ~~we use Postgres~~
- [Docs](docs/a.md)
- [Money](money.md) — amounts are cents
@shared/rules.md

Deployment
----------
> On Tuesdays.
<!-- a comment
- hidden
-->
"""


def facts(text: str, *, prose: bool = False) -> list[tuple[int, str, str]]:
    return [(draft.line, draft.text, draft.subject) for draft in parse(text, prose=prose).drafts]


def test_items_are_facts_under_their_heading_and_after_what_introduces_them() -> None:
    assert facts(CLAUDE) == [
        (8, "Run `pytest -q` before every push", "Testing"),
        (11, "Style: use ruff", "Testing"),
        (12, "Style: line length 120", "Testing"),
        (13, "Never push on Fridays.", "Testing"),
        (14, "not even at noon", "Testing"),
        (18, "Commits: imperative mood", "Testing"),
        (19, "Commits: one thing each", "Testing"),
        (29, "the cache is warm", "Testing"),
        (32, "Money — amounts are cents", "Testing"),
    ]


def test_where_the_whole_file_is_memory_paragraphs_are_facts_too() -> None:
    prose = set(facts(CLAUDE, prose=True)) - set(facts(CLAUDE))
    assert prose == {(3, "This is a monorepo using pnpm.", "Shop"), (37, "On Tuesdays.", "Deployment")}


def test_what_is_left_out_is_counted() -> None:
    assert parse(CLAUDE).left_out == {CODE: 1, TABLE: 2, TASK: 1, GONE: 1, LINK: 2, PROSE: 2}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* one\n+ two\n- three\n• four", ["one", "two", "three", "four"]),
        ("- one\r\n- two\r- three", ["one", "two", "three"]),
        ("- one\nlazy line", ["one lazy line"]),
        ("- one\n\n  second paragraph of it", ["one second paragraph of it"]),
        ("- one\n\nnot of it", ["one"]),
        ("-no item\n- \n-", []),
        ("---\n- after a rule", ["after a rule"]),
        ("```\n- code without end", []),
        ("~~~\n```\n- x\n~~~\n- after", ["after"]),
        ("    - deep\n- not", ["deep", "not"]),
        ("- Tests:\n  - a\n  - b", ["Tests: a", "Tests: b"]),
        ("- A: \n  - B:\n    - c", ["A: B: c"]),
        ("- " + "x" * 70 + "\n  - child", ["x" * 70, "child"]),
        ("- the fact *(qwen · 2026-05-01 · 0.70 · #3fa9c1)*", ["the fact"]),
        ("- ~~gone~~ → now this *(you · 2026-05-01 · 0.70 · #3fa9c1)*", []),
        ("- @docs/other.md", []),
        ("", []),
        ("\ufeff# T\n- x", ["x"]),
    ],
)
def test_lists_as_people_write_them(text: str, expected: list[str]) -> None:
    assert [draft.text for draft in parse(text).drafts] == expected


def test_the_header_of_a_memory_file_is_its_subject() -> None:
    text = "---\nname: tabs\ndescription: Prefers tabs\ntype: user\n---\nUses tabs everywhere.\n"
    assert facts(text, prose=True) == [(6, "Uses tabs everywhere.", "Prefers tabs")]


def test_lists_in_lists_in_lists_are_read_to_any_depth() -> None:
    text = "\n".join(" " * depth + "- a:" for depth in range(2_000)) + "\n" + " " * 2_000 + "- fact"
    (draft,) = parse(text).drafts
    assert draft.text.endswith("a: fact")


MARKUP = "- ¦  - ¦1. ¦a b¦`¦```¦# ¦\n¦\n\n¦> ¦| x |¦<!--¦-->¦---¦[x](y)¦~~¦:¦@a¦    "
pieces = st.sampled_from(MARKUP.split("¦"))


@settings(max_examples=300)
@given(st.lists(st.one_of(pieces, st.text(max_size=12)), max_size=40).map("".join), st.booleans())
def test_any_text_is_read_and_each_fact_has_its_line(text: str, prose: bool) -> None:
    read = parse(text, prose=prose)
    assert all(isinstance(draft, Draft) and draft.text.strip() == draft.text != "" for draft in read.drafts)
    lines = [draft.line for draft in read.drafts]
    assert lines == sorted(lines)
    assert not lines or 1 <= lines[0] <= lines[-1] <= len(text.splitlines()) + 1
