"""New code can't pass a text by the doors: what would is found in the source.

A text that somebody wrote reaches the terminal as ``Content`` or a painted piece, is logged by ``safe_log``, printed by
``cli.output``; nobody else writes to the terminal.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import milk_tui

ROOT = Path(milk_tui.__file__).parent
WIDGETS = {"Static", "Label", "Button", "Checkbox", "RadioButton", "Collapsible"}
MARKUP_ITSELF = {"Markdown", "RichLog", "Log", "Pretty", "Link", "MarkdownViewer"}
TITLES = {"border_title", "border_subtitle", "BORDER_TITLE", "BORDER_SUBTITLE", "tooltip"}

TO_THE_TERMINAL = {
    "ui/app.py": "the title's end",
    "ui/background.py": "asks for the ground's colour",
    "ui/clipboard.py": "OSC 52, in base64",
    "ui/appearance.py": "the title, bell and OSC 9, each of one clean line",
    "ui/browser_driver.py": "the page's own driver",
}
"""Modules that write bytes to the terminal themselves, and what."""
PRINTS = {
    "cli/output.py": "the one way for commands",
    "cli/progress.py": "one clean line",
    "cli/readers.py": "an answer that the engine has cleaned",
    "cli/root.py": "a traceback made safe",
    "cli/quick.py": "JSON",
    "cli/config.py": "a path of the person's",
    "cli/models.py": "a path of ours",
    "cli/mcp.py": "a protocol",
    "interop/hook.py": "to the runtime that called",
    "interop/mcp_server.py": "to the client that called",
    "interop/mcp_memory.py": "to the client that called",
    "tools/search_worker.py": "to its parent",
    "ui/app.py": "a sentence of ours",
}
"""Modules that print, and what."""


def modules(*below: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if not below or name.startswith(below):
            yield name, ast.parse(path.read_text("utf-8"))


def called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def made_of_content(module: ast.Module) -> set[str]:
    """Names that the module gives to content alone."""
    return {
        target.id
        for node in ast.walk(module)
        if isinstance(node, ast.Assign) and is_ours(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def is_ours(value: ast.expr | None, names: frozenset[str] | set[str] = frozenset()) -> bool:
    """A text that the program itself says, or one that is no markup."""
    match value:
        case None:
            return True
        case ast.Constant(value=text):
            return not isinstance(text, str) or "[" not in text
        case ast.Call():
            return called(value) in ("Content", "to_content", "assemble", "styled")
        case ast.IfExp(body=first, orelse=second):
            return is_ours(first, names) and is_ours(second, names)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper() or name in names
        case ast.Subscript(value=ast.Name(id=name)):
            return name.isupper()
    return False


def test_no_widget_takes_a_text_for_markup() -> None:
    wrong = []
    for name, module in modules("ui/"):
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and called(node) in WIDGETS:
                plain = any(
                    keyword.arg == "markup" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                    for keyword in node.keywords
                )
                if not plain and not (node.args and called_content(node.args[0])):
                    wrong.append(f"{name}:{node.lineno} {called(node)} without markup=False")
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual.widgets"):
                wrong += [f"{name}:{node.lineno} {each.name}" for each in node.names if each.name in MARKUP_ITSELF]
            if isinstance(node, ast.Call) and called(node) == "from_markup":
                wrong.append(f"{name}:{node.lineno} from_markup")
            if isinstance(node, ast.keyword) and node.arg == "markup" and getattr(node.value, "value", None) is True:
                wrong.append(f"{name}:{node.value.lineno} markup=True")
    assert wrong == []


def called_content(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and called(value) in ("Content", "to_content")


def test_no_title_of_a_frame_is_markup() -> None:
    wrong = []
    for name, module in modules("ui/"):
        content = made_of_content(module)
        for node in ast.walk(module):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and target.attr in TITLES and not is_ours(node.value, content):
                        wrong.append(f"{name}:{node.lineno} {ast.unparse(node)}")
    assert wrong == []


def test_only_named_modules_write_to_the_terminal() -> None:
    wrong = set()
    for name, module in modules("ui/"):
        for node in ast.walk(module):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="_driver" | "driver"), attr="write")):
                    wrong.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="write")):
                    wrong.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="__stdout__" | "__stderr__"), attr="write")):
                    wrong.add(name)
    assert wrong <= set(TO_THE_TERMINAL), wrong - set(TO_THE_TERMINAL)


def test_only_named_modules_print() -> None:
    wrong = set()
    for name, module in modules():
        for node in ast.walk(module):
            match node:
                case ast.Call(func=ast.Name(id="print")):
                    wrong.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="click"), attr="echo" | "secho" | "echo_via_pager")):
                    wrong.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="stdout" | "stderr"), attr="write")):
                    wrong.add(name)
    assert wrong <= set(PRINTS), wrong - set(PRINTS)


def test_only_the_safe_log_and_the_host_set_up_logging() -> None:
    wrong = []
    for name, module in modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and called(node) in ("basicConfig", "StreamHandler", "FileHandler"):
                wrong.append(name)
    assert set(wrong) <= {"safe_log.py", "modelhost/hostlog.py"}


def test_sql_is_made_of_no_texts() -> None:
    """A value goes into SQL as a parameter; what is put together is names and marks of ours."""
    wrong = []
    for name, module in modules():
        for node in ast.walk(module):
            match node:
                case ast.Call(func=ast.Attribute(attr="execute" | "executemany"), args=[ast.BinOp(op=ast.Mod()), *_]):
                    wrong.append(f"{name}:{node.lineno}")
    assert wrong == []
