"""Markdown that somebody wrote to be slow: what stands between two blank lines is looked through for brackets and stars
in the square of its length, so that what is very long is text (``quality.md``, "hostile text").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

MOST_INLINE = 12_000
"""Characters of a paragraph, heading or cell that is searched for emphasis, links and code: 0.2 s at worst."""


def bounded(markdown: MarkdownIt) -> MarkdownIt:
    """The parser, whose longest paragraphs are the text that was written and nothing more."""

    def inline(state: StateCore) -> None:
        for token in state.tokens:
            if token.type != "inline":
                continue
            token.children = []
            if len(token.content) > MOST_INLINE:
                token.children += _as_text(token)
            else:
                state.md.inline.parse(token.content, state.md, state.env, token.children)

    markdown.core.ruler.at("inline", inline)
    return markdown


def _as_text(whole: Token) -> list[Token]:
    from markdown_it.token import Token

    made: list[Token] = []
    for number, line in enumerate(whole.content.split("\n")):
        if number:
            made.append(Token("softbreak", "br", 0))
        made.append(Token("text", "", 0, content=line))
    return made
