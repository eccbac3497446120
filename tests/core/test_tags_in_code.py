"""Tags in code are text (``semantics.md`` §1)."""

from __future__ import annotations

import pytest

from milk_tui.core.tags import Capture, TagKind
from tests.core.tag_texts import OTHER, bodies_of, run, shown_of, tag


class TestCode:
    """Inside Markdown code nothing is stripped or captured."""

    @pytest.mark.parametrize(
        "code",
        [
            "`{}`", "``{}``", "`` a ` {} ``", "` {}\n more {}`", "`a{}`", "a`{}`b",
            "```\n{}\n```", "~~~\n{}\n~~~", "```python\n{}\n```", "~~~ a`b ~ c\n{}\n~~~", "   ```\n{}\n   ```",
            "````\n```\n{}\n````", "```\n~~~\n{}\n```", "```\n{}\n``` no\n{}\n```", "```\n{}\n    ```\n{}\n```",
            "```\n\n{}\n\n{}\n```", "```\n{}", "~~~\n\n\n{}", "para\n```\n{}\n```", "```\n# h\n- x\n\n{}\n```  \t",
            "> ```\n> {}\n>\n> {}\n> ```", "- ```\n  {}\n\n  {}\n  ```", "1. a\n\n   ```\n   {}\n\n   {}\n   ```",
            "- a\n  - b\n\n    ```\n    {}\n\n    {}\n    ```", "10. a\n\n    ~~~\n\n    {}\n    ~~~",
            "> 10. a\n>\n>     ```\n>     {}\n>\n>     {}\n>     ```", "```` ``` {}\n````",
            "a ``` b\n```py\n{}\n\n{}\n```", "x\n10. b\n\n      ```\n\n      {}\n      ```", "code: ```py\n{}\n```",
        ],
    )  # fmt: skip
    def test_nothing_is_taken_out_of_code_and_the_next_paragraph_counts_again(self, code: str) -> None:
        text = code.replace("{}", tag("no"))
        end = "" if code.endswith("{}") else "\n\n" + tag("yes")
        assert run(text + end) == (text + "\n\n" * bool(end), [Capture(TagKind.PERCEPT, "yes")] * bool(end))

    @pytest.mark.parametrize(
        "before",
        [
            "`a` ", "``a`b`` ", "a ` b\n\n", "a ``` b\n\n", "a ` b\n \t\nc ", "`` ` ``", "\\` ", "\\\\` `", "`\\` ",
            "a ` b\n```\ncode\n```\n", "a ` b\n- ", "a ` b\n2. ", "a ` b\n## ", "> a ` b\n>\n> ",
            "~~~\n~~~\n", "```\n`````\n", "```\n```\n", "~~ ", "~~~~\n~~~~~ \n", "    ```\n\n", "     ~~~\n\n",
            "-     a\n\n      ```\n\n", "a ` b\n~~~\ncode\n~~~\n", "x\n- a\n\ntext\n     ```\n\n",
            "`a``` b` ", "x\n-     a\n\n      ```\n\n",
            "- a\n\n<b>\n     ```\n\n", "- a\n\n`b`\n     ```\n\n", "- a\n\n\n     ```\n     x\n     ```\n\n",
            "> ```\n> code\n", "> ```\n> code\n\n", "- ```\n  code\n```\n", "- a\n\n  ```\n  code\n  ```\n  ",
            "a ``` b\n``` c `d` ", "```a`b``` ", "# `a` ", "`a\nb` ", "code: ```py\nx\n```\n", "\\```a`` ",
        ],
    )  # fmt: skip
    def test_a_tag_behind_closed_code_counts(self, before: str) -> None:
        assert run(before + tag("yes")) == (before, [Capture(TagKind.PERCEPT, "yes")])

    def test_an_unmatched_backtick_cannot_disable_capture_for_the_rest(self) -> None:
        text = "It's the ` key. " + tag("shown")
        assert run(f"{text}\n\nNext {tag('kept')}") == (f"{text}\n\nNext ", [Capture(TagKind.PERCEPT, "kept")])

    def test_four_blanks_before_a_fence_make_it_no_fence(self) -> None:
        assert bodies_of(f"    ```\n\n{tag('yes')}") == ["yes"]
        assert bodies_of(f"   ```\n\n{tag('no')}") == []

    def test_a_tag_taken_out_at_the_start_of_a_line_does_not_hide_a_fence(self) -> None:
        text = f"{tag('1')} {tag('2')}```\n\n{tag('no')}\n```\n{tag('3')}"
        assert run(text) == (f" ```\n\n{tag('no')}\n```\n", [Capture(TagKind.PERCEPT, n) for n in "123"])

    def test_a_tag_behind_text_leaves_a_run_of_backticks_in_mid_line(self) -> None:
        assert bodies_of(f"<b> {tag('1')}```\n\n{tag('2')}") == ["1", "2"]

    def test_backticks_on_the_two_sides_of_a_tag_are_two_runs(self) -> None:
        assert bodies_of(f"`a`{tag('1')}`b` {tag('2')}") == ["1", "2"]

    def test_the_other_agents_tag_in_code_is_shown(self) -> None:
        text = f"`{tag('x', nonce=OTHER)}`"
        assert shown_of(text) == text
