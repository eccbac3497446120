"""Nonce tags in a stream (``semantics.md`` §1): cutting changes nothing, and long texts cost no more for each byte."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from milk_tui.core.tags import BODY_CHARS, Capture, Interceptor, TagKind
from tests.core import tag_reference
from tests.core.tag_texts import FRAGMENTS, OTHER, OWN, STRANGE, documents, long_nasty, nasty, run, tag


def reference(text: str) -> tuple[str, list[Capture]]:
    shown, captures = tag_reference.intercept(text, OWN, (OTHER,))
    return shown, [Capture(TagKind(kind), body, "refused" * refused) for kind, body, refused in captures]


def without_reason(result: tuple[str, list[Capture]]) -> tuple[str, list[Capture]]:
    shown, captures = result
    return shown, [Capture(c.kind, c.body, "refused" * bool(c.refused)) for c in captures]


class TestCutting:
    """The result is the same for every way of cutting the input."""

    @pytest.mark.parametrize(
        "text",
        [
            f"a<{tag('b')}c", f"`{tag('b')}`", f"```\n{tag('b')}\n```\n{tag('c')}", f"<milk:<milk:need:{OWN}>x",
            f"a{tag('b', close=STRANGE)}c", f"``{tag('b')}`\n\n{tag('c')}",
            f"{tag('é語👩')}~~~\n", f"> ```\n{tag('b')}",
        ],
    )  # fmt: skip
    def test_two_cuts_at_every_place(self, text: str) -> None:
        whole = run(text)
        for i, j in combinations(range(len(text) + 1), 2):
            assert run(text[:i], text[i:j], text[j:]) == whole, (i, j)

    @pytest.mark.parametrize(
        "text",
        [
            f"- a\n  - ```\n    {tag('b')}\n\n    ```\n{tag('c')}\n\n1. `{tag('d')}\n2. {tag('e')}",
            f"a ``` b\n```\n{tag('b')} \\` `` {tag('c')} ``\n~~~~ `\n~~~\n{tag('d')}\n~~~~ \n{tag('e')}",
            f"- a\n\n     ```\n\n{tag('b')}\n     ```\n{tag('c')}\n\n\n     ~~~\n{tag('d')}",
            f"> > ```\n> {tag('b')}\n{tag('c')}\n\t```\n\n{tag('d')}\n# `\n{tag('e')}\n   ```\n{tag('f')}",
        ],
    )
    def test_one_cut_at_every_place_and_every_size_of_piece(self, text: str) -> None:
        whole = run(text)
        assert without_reason(whole) == reference(text)
        for i in range(len(text) + 1):
            assert run(text[:i], text[i:]) == whole, i
        for size in range(1, 30):
            assert run(*(text[i : i + size] for i in range(0, len(text), size))) == whole, size

    @settings(max_examples=1500, deadline=None)
    @given(nasty, st.data())
    def test_random_cuts_of_nasty_text(self, text: str, data: st.DataObject) -> None:
        cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
        places = [0, *sorted(cuts), len(text)]
        whole = run(text)
        assert run(*(text[i:j] for i, j in pairwise(places))) == whole
        assert run(*text) == whole

    @settings(max_examples=300, deadline=None)
    @given(long_nasty, st.integers(1, 5000))
    def test_bodies_around_the_bound_in_pieces_of_every_size(self, text: str, size: int) -> None:
        assert run(*(text[i : i + size] for i in range(0, len(text), size))) == run(text)

    @settings(max_examples=1500, deadline=None)
    @given(nasty)
    @example(f"a ``` b\n```\n{tag('x')}")
    @example(f"`\n- {tag('a')}```\n\n{tag('b')}")
    def test_the_stream_does_what_the_whole_text_reference_does(self, text: str) -> None:
        assert without_reason(run(text)) == reference(text)

    @settings(max_examples=1500, deadline=None)
    @given(documents)
    def test_the_stream_does_what_the_reference_does_in_documents(self, text: str) -> None:
        assert without_reason(run(text)) == reference(text)
        assert run(*text) == run(text)

    def test_a_close_that_begins_at_the_bound_counts_however_it_is_cut(self) -> None:
        text = "a" + tag("x" * BODY_CHARS, "frame") + "b"
        for cut in range(len(text) - 30, len(text)):
            assert run(text[:cut], text[cut:]) == ("ab", [Capture(TagKind.FRAME, "x" * BODY_CHARS)]), cut

    def test_a_close_out_of_reach_of_one_open_tag_closes_the_next(self) -> None:
        for gap in (1, 30, 3000):
            text = f"<milk:frame:{OWN}>" + "x" * gap + tag("y" * (BODY_CHARS - 1), "frame") + "b"
            assert run(text) == (
                text.split("y")[0].removesuffix(f"<milk:frame:{OWN}>") + "b",
                [Capture(TagKind.FRAME, "y" * (BODY_CHARS - 1))],
            )

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.sampled_from([*FRAGMENTS[:20], "x" * 1500, "z" * 4090, "`", "\n\n"]), max_size=9).map("".join))
    def test_the_stream_does_what_the_reference_does_around_the_bound(self, text: str) -> None:
        assert without_reason(run(text)) == reference(text)

    @given(st.text())
    def test_text_without_tags_is_shown_as_it_is(self, text: str) -> None:
        assert run(*text) == (text, [])

    def test_at_most_one_partial_header_is_held_back(self) -> None:
        interceptor = Interceptor(OWN, [OTHER])
        shown = 0
        text = f"a < b <m <milk:percept <milk:percept:{OWN[:5]} `<milk:` <<milk:need:{OWN[:3]}!" * 3
        for i, char in enumerate(text, 1):
            shown += len(interceptor.feed(char))
            assert i - shown < len(f"<milk:invariant:{OWN}>")
        assert shown == len(text)

    def test_nothing_is_held_back_in_code_or_of_what_is_no_header(self) -> None:
        interceptor = Interceptor(OWN)
        for piece in ["text <", "", "div> <milky", " way `<milk:percept:", OWN]:
            expected = piece if piece != "text <" else "text "
            assert interceptor.feed(piece) == ("<" if piece == "div> <milky" else "") + expected


class TestLinear:
    """Adversarial text costs a bounded amount of work per character (the figure is benchmark ``tags``)."""

    @pytest.mark.parametrize(
        "unit", ["<", "<milk:", f"<milk:percept:{OWN}>", "`", "`a", "\n", "\n- ", " ", "> ", "~~~\n", "\\", "\n\t"]
    )
    def test_a_megabyte_of_one_unit_is_read(self, unit: str) -> None:
        text = unit * (400_000 // len(unit))
        assert run(text) == run(*(text[i : i + 999] for i in range(0, len(text), 999)))

    def test_memory_is_bounded_by_one_tag(self) -> None:
        interceptor = Interceptor(OWN)
        for unit in (f"<milk:percept:{OWN}>", "> ", "`", " ", "- "):
            fed = shown = 0
            for _ in range(300):
                fed += 100 * len(unit)
                shown += len(interceptor.feed(unit * 100))
            assert fed - shown < BODY_CHARS + 100 * len(unit) + 100
            interceptor.close()
