"""Nonce tags (``semantics.md`` §1): what is taken out, and what is captured."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.records import Consumer
from milk_tui.core.tags import (
    BODY_CHARS,
    FACT_CHARS,
    MASK,
    NEED_CHARS,
    Capture,
    Interceptor,
    StreamMask,
    TagKind,
    looks_like_tag,
    mask,
    split_consumer,
    strip_all,
)
from tests.core.tag_texts import OTHER, OWN, STRANGE, bodies_of, nasty, run, shown_of, tag


class TestCapture:
    @pytest.mark.parametrize("kind", TagKind)
    def test_the_right_nonce_is_captured_and_stripped(self, kind: TagKind) -> None:
        assert run(f"a{tag('b', kind)}c") == ("ac", [Capture(kind, "b")])

    def test_the_other_agents_nonce_is_stripped_and_not_captured(self) -> None:
        assert run(f"a{tag('b', nonce=OTHER)}c") == ("ac", [])

    @pytest.mark.parametrize("text", [tag("b", nonce=STRANGE), "<milk:percept>b</milk:percept>", tag("b", nonce="")])
    def test_any_other_nonce_or_none_is_plain_text(self, text: str) -> None:
        assert run(f"a{text}c") == (f"a{text}c", [])

    @pytest.mark.parametrize(
        "header",
        [
            f"<milk:fact:{OWN}>", f"<MILK:percept:{OWN}>", f"<milk:percept:{OWN.upper()}>", f"< milk:percept:{OWN}>",
            f"<milk:percept:{OWN} >", f"<milk:percept:{OWN}0>", f"<milk:percept:{OWN[:5]}>", f"<milk:percept:{OWN}",
        ],
    )  # fmt: skip
    def test_a_header_that_is_not_exact_is_plain_text(self, header: str) -> None:
        text = f"a{header}b</milk:percept:{OWN}>c"
        assert run(text) == (text, [])

    def test_captures_come_in_order_and_are_taken_once(self) -> None:
        interceptor = Interceptor(OWN)
        interceptor.feed(tag("1") + tag("2", "need") + "x" + tag("3", "working"))
        assert [c.body for c in interceptor.take()] == ["1", "2", "3"]
        assert interceptor.take() == []

    def test_a_capture_is_there_as_soon_as_its_close_is_read(self) -> None:
        interceptor = Interceptor(OWN)
        assert interceptor.feed("text " + tag("fact")[:-1]) == "text "
        assert interceptor.take() == []
        assert interceptor.feed(">") == ""
        assert interceptor.take() == [Capture(TagKind.PERCEPT, "fact")]

    def test_the_body_is_trimmed(self) -> None:
        assert bodies_of(tag("\n  two\n lines \t\n")) == ["two\n lines"]

    @pytest.mark.parametrize("kind", TagKind)
    @pytest.mark.parametrize("blank", ["", " ", "\n\t \n"])
    def test_a_blank_body_is_stripped_and_ignored(self, kind: TagKind, blank: str) -> None:
        assert run(f"a{tag(blank, kind)}c") == ("ac", [])

    def test_text_around_a_tag_is_untouched(self) -> None:
        assert shown_of(f"before {tag('x')} after\n{tag('y')}\n\n end ") == "before  after\n\n\n end "

    def test_a_lesser_sign_before_a_tag_does_not_hide_it(self) -> None:
        assert run(f"<{tag('x')}") == ("<", [Capture(TagKind.PERCEPT, "x")])
        assert run(f"a <<<m<milk:<milk:percept:{tag('x')} 1 < 2") == (
            "a <<<m<milk:<milk:percept: 1 < 2",
            [Capture(TagKind.PERCEPT, "x")],
        )

    def test_a_body_may_hold_lesser_signs_and_backticks(self) -> None:
        body = "if a<b and c</d: `x` ``` </milk </milk:percep"
        assert bodies_of(tag(body)) == [body]

    def test_an_empty_nonce_captures_nothing(self) -> None:
        interceptor = Interceptor("", [""])
        text = tag("x", nonce="") + tag("y")
        assert interceptor.feed(text) + interceptor.close() == text
        assert interceptor.take() == []

    @pytest.mark.parametrize("nonce", ["ABC123", "a b", "a|b", "a>b", "x" * 41])
    def test_what_is_no_nonce_is_refused(self, nonce: str) -> None:
        with pytest.raises(ValueError, match="not a nonce"):
            Interceptor(nonce)
        with pytest.raises(ValueError, match="not a nonce"):
            Interceptor(OWN, [nonce])


class TestBounds:
    def test_a_body_at_the_bound_is_captured(self) -> None:
        assert bodies_of(tag("x" * BODY_CHARS, "working")) == ["x" * BODY_CHARS]

    @pytest.mark.parametrize("nonce", [OWN, OTHER])
    def test_a_body_over_the_bound_is_text_with_its_tags_and_nothing_is_recorded(self, nonce: str) -> None:
        text = "a" + tag("x" * (BODY_CHARS + 1), nonce=nonce) + "b"
        assert run(text) == (text, [])

    def test_what_follows_an_open_tag_that_became_text_is_read_as_usual(self) -> None:
        text = f"<milk:frame:{OWN}>" + "x" * BODY_CHARS
        assert run(text + tag("kept") + "end") == (text + "end", [Capture(TagKind.PERCEPT, "kept")])
        code = text + "\n```\n" + tag("in code") + "\n```\n"
        assert run(code + tag("kept")) == (code, [Capture(TagKind.PERCEPT, "kept")])

    def test_a_fact_at_its_limit_is_kept_and_a_longer_one_stripped_and_refused_with_a_reason(self) -> None:
        assert run(tag("f" * FACT_CHARS))[1] == [Capture(TagKind.PERCEPT, "f" * FACT_CHARS)]
        shown, (refused,) = run("a" + tag(" " + "f" * (FACT_CHARS + 1)) + "b")
        assert shown == "ab"
        assert refused.body == "f" * (FACT_CHARS + 1)
        assert "2,000" in refused.refused and "2,001" in refused.refused

    def test_only_facts_have_the_fact_limit(self) -> None:
        assert run(tag("x" * 3000, "frame"))[1] == [Capture(TagKind.FRAME, "x" * 3000)]

    def test_a_need_is_one_line_of_at_most_280_characters(self) -> None:
        assert bodies_of(tag(" fix\n the   bug ", "need")) == ["fix the bug"]
        (need,) = bodies_of(tag("word " * 100, "need"))
        assert len(need) <= NEED_CHARS and need.endswith("…")

    def test_a_close_header_longer_than_64_characters_closes_nothing(self) -> None:
        long = f"</milk:percept:{'y' * 49}>"
        assert len(long) == 65
        assert bodies_of(f"<milk:percept:{OWN}>a{long}b</milk:percept:{OWN}>") == [f"a{long}b"]


class TestUnfinished:
    @pytest.mark.parametrize("length", range(1, len(f"<milk:percept:{OWN}>")))
    def test_a_partial_header_at_the_end_is_text(self, length: int) -> None:
        text = "a" + f"<milk:percept:{OWN}>"[:length]
        assert run(text) == (text, [])

    @pytest.mark.parametrize("tail", ["", "body", "body </milk:percept:", "x" * BODY_CHARS])
    @pytest.mark.parametrize("nonce", [OWN, OTHER])
    def test_an_open_tag_without_its_close_is_discarded_with_its_body(self, tail: str, nonce: str) -> None:
        assert run(f"a <milk:percept:{nonce}>{tail}") == ("a ", [])

    def test_an_open_tag_without_its_close_and_with_more_than_a_body_behind_it_is_text(self) -> None:
        text = f"a <milk:percept:{OWN}>" + "x" * (BODY_CHARS + 1)
        assert run(text) == (text, [])

    @pytest.mark.parametrize("close", [STRANGE, OTHER, OWN[:5], "", OWN + "0"])
    def test_a_close_with_another_nonce_records_nothing_and_keeps_what_follows(self, close: str) -> None:
        assert run(f"a {tag('lost', close=close)} b {tag('kept')}") == ("a  b ", [Capture(TagKind.PERCEPT, "kept")])

    def test_a_close_without_a_nonce_counts_as_one_with_another(self) -> None:
        assert run(f"a <milk:need:{OWN}>lost</milk:need> b") == ("a  b", [])

    def test_a_close_of_another_kind_is_body(self) -> None:
        body = f"x </milk:need:{OWN}> y"
        assert bodies_of(tag(body)) == [body]

    def test_a_close_that_closes_nothing_is_text(self) -> None:
        text = f"a </milk:percept:{OWN}> b </milk:need:{STRANGE}>"
        assert run(text) == (text, [])

    def test_an_open_tag_inside_a_body_of_the_same_kind_is_body_and_the_first_close_ends_it(self) -> None:
        shown, captures = run(f"a{tag(f'x <milk:percept:{OWN}> y')}b</milk:percept:{OWN}>")
        assert captures == [Capture(TagKind.PERCEPT, f"x <milk:percept:{OWN}> y")]
        assert shown == f"ab</milk:percept:{OWN}>"


class TestAbandonedBlock:
    """A block that the runtime replaces starts over (``mark`` and ``rollback``)."""

    def test_the_text_and_the_captures_since_the_mark_are_taken_back(self) -> None:
        interceptor = Interceptor(OWN)
        first = interceptor.feed("first " + tag("1"))
        interceptor.mark()
        abandoned = interceptor.feed("second " + tag("2") + " `open")
        assert interceptor.rollback() == len(abandoned)
        assert interceptor.feed(tag("3") + "again") == "again"
        assert first == "first "
        assert [c.body for c in interceptor.take()] == ["1", "3"]

    def test_captures_taken_before_are_the_callers_to_undo(self) -> None:
        interceptor = Interceptor(OWN)
        interceptor.feed(tag("1"))
        assert len(interceptor.take()) == 1
        interceptor.feed(tag("2"))
        assert interceptor.rollback() == 0
        assert interceptor.take() == []

    def test_without_a_mark_the_whole_text_starts_over(self) -> None:
        interceptor = Interceptor(OWN)
        interceptor.feed("```\ncode ")
        assert interceptor.rollback() == 9
        assert interceptor.feed("x" + tag("1")) == "x"
        assert len(interceptor.take()) == 1

    def test_a_block_can_be_abandoned_twice(self) -> None:
        interceptor = Interceptor(OWN)
        interceptor.feed("a")
        interceptor.mark()
        for _ in range(2):
            assert interceptor.feed(f"{tag('1')}b\n```\n<milk:percept:{OWN}>c").startswith("b\n```")
            interceptor.rollback()
        assert interceptor.take() == []
        assert interceptor.feed(tag("2") + "d") + interceptor.close() == "d"
        assert [c.body for c in interceptor.take()] == ["2"]

    def test_a_mark_keeps_what_was_held_back_before_it(self) -> None:
        interceptor = Interceptor(OWN)
        assert interceptor.feed("a<milk:per") == "a"
        interceptor.mark()
        interceptor.feed("x")
        interceptor.rollback()
        assert interceptor.feed(f"cept:{OWN}>b</milk:percept:{OWN}>c") == "c"
        assert [c.body for c in interceptor.take()] == ["b"]

    @settings(max_examples=300, deadline=None)
    @given(nasty, nasty, nasty)
    def test_after_a_rollback_it_is_as_if_the_block_had_never_come(self, before: str, lost: str, after: str) -> None:
        interceptor = Interceptor(OWN, [OTHER])
        shown = interceptor.feed(before)
        interceptor.mark()
        interceptor.feed(lost)
        interceptor.rollback()
        shown += interceptor.feed(after) + interceptor.close()
        assert (shown, interceptor.take()) == run(before, after)

    def test_a_closed_interceptor_starts_as_new_and_keeps_its_captures(self) -> None:
        interceptor = Interceptor(OWN)
        interceptor.feed(f"{tag('1')}```\n<milk:percept:{OWN}>")
        interceptor.close()
        assert interceptor.feed(tag("2") + "x") + interceptor.close() == "x"
        assert [c.body for c in interceptor.take()] == ["1", "2"]


class TestStripAll:
    @pytest.mark.parametrize(
        ("text", "left"),
        [
            (f"a{tag('x')}b{tag('y', 'need', STRANGE)}c<milk:frame>z</milk:frame>d", "abcd"),
            (f"`{tag('x')}`", "``"),
            (f"a<milk:percept:{OWN}>b", "ab"),
            (f"a</milk:percept:{OWN}>b", "ab"),
            (f"a{tag('b', close=STRANGE)}c", "abc"),
            (f"a{tag('x' + tag('y', 'need') + 'z')}b", "ab"),
            (f"a<milk:percept:{OWN}>b{tag('x', 'need')}c", "abc"),
            (f"a<milk:percept:{OWN}>b<milk:need:{OWN}>c</milk:percept:{OWN}>d</milk:need:{OWN}>e", "ade"),
            ("a" + tag("x" * BODY_CHARS) + "b", "ab"),
            ("a" + tag("x" * (BODY_CHARS + 1)) + "b", "a" + "x" * (BODY_CHARS + 1) + "b"),
            (f"<milk:percept:{OWN}>" + "x" * BODY_CHARS + tag("y"), "x" * BODY_CHARS),
            (f"a<milk:per{tag('x', 'need')}cept:{OWN}>b", "ab"),
            ("no tag < here", "no tag < here"),
            ("<milk:other:abc123>", "<milk:other:abc123>"),
        ],
    )
    def test_every_milk_tag_goes_whatever_its_nonce(self, text: str, left: str) -> None:
        assert strip_all(text) == left

    @settings(max_examples=500, deadline=None)
    @given(nasty)
    def test_no_header_is_left(self, text: str) -> None:
        left = strip_all(text)
        assert not any(
            f"milk:{kind}:{n}>" in left.replace("<", "") and f"<milk:{kind}:{n}>" in left
            for kind in TagKind
            for n in (OWN, OTHER, STRANGE)
        )
        assert strip_all(left) == left

    def test_headers_nested_without_end_do_not_survive(self) -> None:
        text = "<milk:per" * 50 + f"<milk:need:{OWN}>" + f"cept:{OWN}>" * 50
        assert "<milk:percept:" not in strip_all(text)

    def test_a_megabyte_of_headers_is_stripped(self) -> None:
        opens = "".join(f"<milk:percept:{i:06}>" for i in range(20_000))
        closes = "".join(f"</milk:percept:{i:06}>" for i in range(20_000))
        assert strip_all(opens + closes) == ""
        assert strip_all((f"<milk:percept:{OWN}>" * 50 + f"</milk:percept:{OWN}>") * 400) == ""


class TestHelpers:
    @pytest.mark.parametrize(
        "text",
        [
            tag("x"),
            "<milk:",
            "see </milk:need>",
            "< MILK : percept",
            "<\nmilk:x",
            "<mi\u200blk:percept",
            "<\x1b[0mmilk:a",
        ],
    )
    def test_anything_like_a_tag_is_seen(self, text: str) -> None:
        assert looks_like_tag(f"a {text} b")

    @pytest.mark.parametrize(
        "text", ["", "milk: buy some", "a < b", "<b>milk</b>: yes", "<milkshake:>", "milk:percept:abc123"]
    )
    def test_honest_text_does_not_look_like_a_tag(self, text: str) -> None:
        assert not looks_like_tag(text)

    def test_a_nonce_is_masked_wherever_it_stands(self) -> None:
        assert mask(f"`{tag('x')}` {OTHER}{OWN}", [OWN, OTHER]) == f"`{tag('x', nonce=MASK)}` {MASK}{MASK}"
        assert mask("nothing", [OWN, ""]) == "nothing"

    @given(
        st.lists(st.sampled_from([OWN, OTHER, OWN[:4], OWN[4:], "k3", "k3x9", "zz", "z", "a", "", "`"]), max_size=12)
    )
    def test_a_stream_is_masked_like_the_whole_and_never_shows_a_nonce(self, pieces: list[str]) -> None:
        stream = StreamMask([OWN, OTHER, ""])
        shown = [stream.feed(piece) for piece in pieces]
        assert "".join(shown) + stream.close() == mask("".join(pieces), [OWN, OTHER])
        assert OWN not in "".join(shown)

    def test_a_masked_stream_holds_back_only_what_may_be_a_nonce(self) -> None:
        stream = StreamMask([OWN])
        assert [stream.feed(piece) for piece in ["abc ", OWN[:5], "!", OWN]] == ["abc ", "", OWN[:5] + "!", MASK]

    @pytest.mark.parametrize(
        ("body", "consumer", "text"),
        [
            ("@qwen: use tabs", Consumer.PRIMARY, "use tabs"),
            ("@claude:use tabs", Consumer.ESCALATION, "use tabs"),
            ("@CLAUDE:   use tabs", Consumer.ESCALATION, "use tabs"),
            ("@Qwen:\nuse tabs", Consumer.PRIMARY, "use tabs"),
            ("  @qwen: use tabs", Consumer.PRIMARY, "use tabs"),
            ("@gpt: use tabs", Consumer.ALL, "@gpt: use tabs"),
            ("@qwen use tabs", Consumer.ALL, "@qwen use tabs"),
            ("@qwen2: use tabs", Consumer.ALL, "@qwen2: use tabs"),
            ("qwen: use tabs", Consumer.ALL, "qwen: use tabs"),
            ("use tabs @qwen: ok", Consumer.ALL, "use tabs @qwen: ok"),
            ("@: use tabs", Consumer.ALL, "@: use tabs"),
            ("@qwen: @claude: x", Consumer.PRIMARY, "@claude: x"),
            ("@qwen:", Consumer.PRIMARY, ""),
            ("use tabs", Consumer.ALL, "use tabs"),
        ],
    )
    def test_a_hint_restricts_a_fact_to_the_named_agent(self, body: str, consumer: Consumer, text: str) -> None:
        assert split_consumer(body, "qwen", "claude") == (consumer, text)

    def test_names_may_hold_a_colon_and_begin_alike(self) -> None:
        assert split_consumer("@qwen:7b: x", "qwen", "qwen:7b") == (Consumer.ESCALATION, "x")
        assert split_consumer("@qwen: 7b: x", "qwen", "qwen:7b") == (Consumer.PRIMARY, "7b: x")

    def test_a_missing_escalation_agent_is_never_named(self) -> None:
        assert split_consumer("@: x", "qwen", "") == (Consumer.ALL, "@: x")
