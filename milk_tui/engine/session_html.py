"""A session as one HTML page that needs nothing else: it looks like the conversation, and nothing in it is run.

Every text is escaped; Markdown is rendered without HTML, pictures or addresses that could do something. The page's own
policy forbids scripts and every request.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, TextIO

from milk_tui.core.attachments import Kind
from milk_tui.core.records import Leg, Role, Session, ToolCall, ToolStatus
from milk_tui.engine.markdown_bounds import bounded
from milk_tui.engine.session_export import (
    Said,
    Words,
    agents_of,
    attached_line,
    cost,
    ending,
    heading,
    mark_of,
    moment,
    pieces,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MOST_HIGHLIGHTED = 100_000
"""Characters of a code block that are coloured; a longer one is shown plain."""

_STYLE = """
:root { color-scheme: light dark; --back: #fbfaf7; --panel: #f1efe9; --text: #23211d; --dim: #6d675d; --line: #ddd8cd;
  --you: #7a5c1e; --primary: #1f6f54; --escalation: #7b3fa0; --bad: #a8322d; --code: #f4f2ec; }
@media (prefers-color-scheme: dark) { :root { --back: #16171a; --panel: #1e2024; --text: #dcd9d2; --dim: #928d84;
  --line: #33353a; --you: #d9b35f; --primary: #6cc3a0; --escalation: #c792ea; --bad: #ec8a82; --code: #1b1d21; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 56rem; background: var(--back); color: var(--text);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; }
.about, .who small { color: var(--dim); font-size: .85rem; }
article { margin: 0 0 1.2rem; padding-left: .9rem; border-left: 3px solid var(--line); }
article.you { border-color: var(--you); } article.primary { border-color: var(--primary); }
article.escalation { border-color: var(--escalation); }
.who { font-weight: 600; margin: 0 0 .2rem; } .you .who { color: var(--you); } .primary .who { color: var(--primary); }
.escalation .who { color: var(--escalation); }
.handover { margin: 1.6rem 0 1rem; color: var(--escalation); border-top: 2px solid var(--escalation);
  padding-top: .4rem; font-weight: 600; }
.prompt { white-space: pre-wrap; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 4px; padding: .6rem .8rem;
  overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; white-space: pre; }
code { font-family: ui-monospace, monospace; font-size: .9em; background: var(--code); padding: 0 .2em; }
pre code { background: none; padding: 0; font-size: 1em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid var(--line); padding: .25rem .6rem; text-align: left; }
blockquote { margin-left: 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--dim); }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--dim); font-size: .9rem; }
summary b { color: var(--text); font-family: ui-monospace, monospace; font-weight: 600; }
.failed, .error { color: var(--bad); } a { color: inherit; }
"""


def html(out: TextIO, session: Session, said: Iterable[Said], *, secrets: bool = False) -> None:
    """Write the page."""
    words = Words(session.nonces, secrets)
    title = escape(heading(session, words))
    out.write(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{_STYLE}{_code_style()}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{title}</h1>\n<p class=about>{escape(agents_of(session, words))}<br>"
        f"<code>{escape(words.line(session.directory))}</code> · {moment(session.created_ms)}</p>\n</header>\n<main>\n"
    )
    for each in said:
        out.write(
            f'<article class="you" id="turn-{each.turn.id}">\n<p class=who>you '
            f"<small>{moment(each.turn.created_ms)}</small></p>\n"
            f"<div class=prompt>{escape(words.text(each.turn.prompt))}</div>\n"
        )
        for came in each.attached:
            out.write(f"<p><small>{escape(attached_line(words, came))}</small></p>\n")
            if came.kind is Kind.COMMAND:
                out.write(f"<pre>{escape(words.text(came.text))}</pre>\n")
        out.write("</article>\n")
        for leg, tools in each.legs:
            _leg(out, words, leg, tools)
    out.write("</main>\n</body>\n</html>\n")


def _leg(out: TextIO, words: Words, leg: Leg, tools: tuple[ToolCall, ...]) -> None:
    name = escape(words.line(leg.agent_name, 60))
    if leg.escalated:
        reason = f": “{escape(words.line(leg.reason))}”" if leg.reason else ""
        out.write(f"<p class=handover>━━ ◆ escalated to {name}{reason}</p>\n")
    about = " · ".join(part for part in (moment(leg.started_ms), ending(leg), cost(leg)) if part)
    kind = "primary" if leg.role is Role.PRIMARY else "escalation"
    out.write(f'<article class="{kind}">\n<p class=who>{mark_of(leg)} {name} <small>{escape(about)}</small></p>\n')
    if leg.thinking.strip():
        thought = escape(words.text(leg.thinking))
        out.write(f"<details><summary>thinking</summary><div class=prompt>{thought}</div></details>\n")
    for piece in pieces(leg, tools):
        out.write(_rendered(words.text(piece)) if isinstance(piece, str) else _tool(words, piece))
    if leg.error:
        out.write(f"<p class=error>{escape(words.line(f'{leg.error.message} {leg.error.hint}'))}</p>\n")
    out.write("</article>\n")


def _tool(words: Words, tool: ToolCall) -> str:
    bad = "" if tool.status is ToolStatus.OK else ' class="failed"'
    shown = escape(words.line(tool.arguments, 100))
    parts = [f"<pre>{escape(words.text(tool.arguments))}</pre>"]
    if tool.result:
        parts.append(f"<pre>{escape(words.text(tool.result))}</pre>")
    return (
        f"<details><summary{bad}>▸ <b>{escape(words.line(tool.name, 80))}</b> {shown} · {tool.status.value}</summary>"
        f"{''.join(parts)}</details>\n"
    )


def _rendered(text: str) -> str:
    rendered: str = _markdown().render(text)
    return rendered


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = bounded(MarkdownIt("commonmark", {"html": False, "linkify": False, "highlight": _highlighted}))
    made.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    made.add_render_rule("link_open", _link)
    return made


def _link(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """A link that tells its target nothing of this page."""
    token = tokens[index]
    target = str(token.attrs.get("href", ""))
    if not target.startswith(("http://", "https://", "mailto:", "#")):
        token.attrs["href"] = "#"
    token.attrs["rel"] = "noopener noreferrer nofollow"
    token.attrs["target"] = "_blank"
    rendered: str = self.renderToken(tokens, index, options, env)
    return rendered


def _highlighted(code: str, language: str, _attributes: str) -> str:
    """Coloured code; empty where it can't be, which leaves it to the renderer."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language or len(code) > MOST_HIGHLIGHTED:
        return ""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ""
    coloured: str = highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="c-"))
    return coloured


@lru_cache(maxsize=1)
def _code_style() -> str:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="friendly", classprefix="c-").get_style_defs("pre")
    dark = HtmlFormatter(style="monokai", classprefix="c-").get_style_defs("pre")
    kept = [
        "\n".join(line for line in styles.splitlines() if ".c-" in line and ".c-err" not in line)
        for styles in (light, dark)
    ]
    return f"{kept[0]}\n@media (prefers-color-scheme: dark) {{\n{kept[1]}\n}}\n"
