"""The configuration: what a file may say, and what a person is told when it says something else."""

from __future__ import annotations

import ast
import inspect
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields

from milk_tui import config, config_edit, config_file, paths
from milk_tui.config import Config, Provider
from milk_tui.core.errors import ConfigError
from milk_tui.core.records import Role


def parse(text: str) -> Config:
    parsed, _ = config_file.parse(text, "c.toml")
    config_file.check(parsed, "c.toml")
    return parsed


def file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


FULL = """
[session]
primary = "qwen"
escalation = "anthropic/claude-opus-5-5"

[agents.qwen]
model = "ollama_chat/qwen2.5-coder"
tools = true
temperature = 1
window_tokens = 32768

[agents."own.server"]
model = "openai/mine"
api_base = "http://127.0.0.1:9999/v1"
role = "escalation"
tools = "auto"

[context]
cache_ttl = "1h"

[routing]
escalate = ["design review"]

[keys]
escalate = "ctrl+e"
stop = ["escape", "ctrl+x"]
"""


def test_a_file_says_only_what_differs_from_the_defaults() -> None:
    read = parse(FULL)
    assert read.agents["qwen"].tools is True
    assert read.agents["qwen"].temperature == 1.0
    assert read.agents["own.server"].tools == "auto"
    assert read.agents["own.server"].provider is Provider.LITELLM
    assert read.context.cache_ttl == "1h"
    assert read.context.cap == Config().context.cap
    assert read.routing.escalate == ("design review",)
    assert read.keys == {"escalate": ("ctrl+e",), "stop": ("escape", "ctrl+x")}
    assert parse("") == Config()


def test_a_session_names_its_agents_before_their_roles_do() -> None:
    read = parse(FULL)
    assert read.named(Role.PRIMARY) == "qwen"
    assert read.named(Role.ESCALATION) == "anthropic/claude-opus-5-5"


def test_agents_without_a_role_take_the_free_places_in_the_files_order() -> None:
    read = parse(
        '[agents.b]\nmodel="x/b"\n[agents.deep]\nmodel="x/d"\nrole="escalation"\n[agents.a]\nmodel="x/a"'
    )
    assert read.named(Role.PRIMARY) == "b"
    assert read.named(Role.ESCALATION) == "deep"
    assert parse('[agents.one]\nmodel="x/b"').named(Role.ESCALATION) == ""


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("[context]\ncapp = 1", "c.toml: line 2, column 1: context.capp: unknown key.", "Did you mean cap?"),
        ("[contxt]", "c.toml: line 1, column 2: contxt: unknown key.", "Did you mean context?"),
        (
            "[ui]\nzzz = 1",
            "c.toml: line 2, column 1: ui.zzz: unknown key.",
            "Allowed: theme, sidebar, reduced_motion, plain, clipboard, title, alert, alert_after.",
        ),
        ('[context]\ncap = "much"', 'c.toml: line 2, column 1: context.cap = "much": not allowed.', "number from 0"),
        ("[context]\ncap = -1", "c.toml: line 2, column 1: context.cap = -1: not allowed.", "from 0 to 10_000_000"),
        ("[context]\ncap = true", "c.toml: line 2, column 1: context.cap = true: not allowed.", "a whole number"),
        ('[context]\ncache_ttl = "1d"', 'context.cache_ttl = "1d"', 'Allowed: "5m", "1h".'),
        (
            '[agents.a]\nmodel="m/m"\nrole="deep"',
            'agents.a.role = "deep"',
            'Allowed: "primary", "escalation".',
        ),
        (
            '[agents.a]\nmodel="m/m"\nprovider="x"',
            "agents.a.provider",
            '"litellm", "embedded", "claude-cli", "acp"',
        ),
        ('[agents.a]\nmodel="m/m"\ntools="yes"', 'agents.a.tools = "yes"', 'Allowed: true, false, "auto", "text".'),
        ('[agents.a]\nmodel="m/m"\ntemperature=nan', "agents.a.temperature = nan", "a number from 0 to 2"),
        ('[agents.a]\nmodel="m\\u001b[2J"', "agents.a.model", "without control characters"),
        ("[agents.a]\n", "c.toml: line 1, column 9: agents.a.model: missing.", "ollama_chat/"),
        ('[agents.a]\nprovider="acp"', "c.toml: line 1, column 9: agents.a.command: missing.", "opencode"),
        (
            '[agents.a]\nprovider="embedded"\nmodel="huge"',
            'agents.a.model = "huge"',
            '"small", "tiny", "medium"',
        ),
        ('[agents.a]\nmodel="m/m"\napi_key="sk"', "agents.a.api_key: unknown key.", "api_key_env"),
        ('[agents.qwen2.5]\nmodel="m/m"', "agents.qwen2.5: unknown key.", "in quotes"),
        ('[agents."a b"]\nmodel="m/m"', 'agents."a b": not a name', "1 to 32 letters"),
        ("agents = 3", "agents = 3: not allowed.", "a table"),
        ("[keys]\nstop = []\nsend = [1]", "keys.send = [1]", 'a key such as "ctrl+g"'),
        ("[timeouts]\nprobe = 0", "timeouts.probe = 0", "above 0"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_is_allowed(text: str, what: str, hint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse(text)
    assert what in raised.value.what
    assert hint in raised.value.hint
    assert raised.value.what.startswith("c.toml")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("# cap is what it is\n[context]\n# cap\ncap = -1\n", "line 4, column 1"),
        ("context.cap = -1\n", "line 1, column 9"),
        ('[routing]\nescalate = [\n "cap",\n]\n[context]\ncap = [\n 1,\n]\n', "line 6, column 1"),
        ('[agents."a.b"]\nmodel = "m/x"\n  role = "deep"\n', "line 3, column 3"),
        ('[agents.a]\r\nmodel = "m/x"\r\nzzz = 1\r\n', "line 3, column 1"),
        ('agents = { a = { model = "m/x", tools = 3 } }', "line 1, column 33"),
    ],
)
def test_a_wrong_key_or_value_has_its_line_and_column(text: str, place: str) -> None:
    with pytest.raises(ConfigError, match=f"c.toml: {place}: "):
        parse(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a = 1\nb =", 2, 4), ("a = 1\n[x\n", 2, 3), ("x", 1, 2), ("a = 1\nb = }", 2, 5)],
)
def test_a_syntax_error_has_its_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(ConfigError, match=f"c.toml: line {line}, column {column}: "):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        '[agents.a]\nmodel="m/m"\n[agents.A]\nmodel="m/n"',
        '[agents.a]\nmodel="m/m"\n[session]\nprimary="a"\nescalation="A"',
        '[session]\nprimary="m/m"\nescalation="m/m"',
    ],
)
def test_two_agents_with_one_name_are_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"one name|already the primary"):
        parse(text)


def test_two_agents_for_one_role_are_an_error_unless_the_session_names_one() -> None:
    text = '[agents.a]\nmodel="m/a"\nrole="primary"\n[agents.b]\nmodel="m/b"\nrole="primary"\n'
    with pytest.raises(ConfigError, match=r"agents\.b\.role: a is already the primary agent"):
        parse(text)
    assert parse(text + '[session]\nprimary="b"').named(Role.PRIMARY) == "b"


@given(st.text(max_size=200) | st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_whatever_a_file_holds_it_loads_or_says_one_line(tmp_path_factory, content: str | bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "c.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    path.chmod(0o600)
    try:
        assert config.load(path, environ={}).found
    except ConfigError as error:
        assert "\n" not in str(error)
        assert str(error).isprintable()


toml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from([info.name for info in fields(Config)]),
    st.sampled_from(["cap", "model", "role", "escalate", "primary", "size", "x"]),
    toml_values,
)
@settings(max_examples=300, deadline=None)
def test_any_value_at_any_key_is_taken_or_refused_by_name(section: str, key: str, value: object) -> None:
    import tomlkit

    table = {section: {"name": {key: value}} if section == "agents" else {key: value}}
    try:
        text = tomlkit.dumps(table)
    except Exception:
        return
    try:
        parse(text)
    except ConfigError as error:
        assert section in error.what or "TOML" in error.what or "line" in error.what


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 5_000])
def test_absurd_toml_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"c\.toml: not readable as TOML"):
        parse(text)


def test_a_missing_file_is_the_defaults_unless_somebody_named_it(tmp_path: Path) -> None:
    home = {"MILK_TUI_HOME": str(tmp_path)}
    loaded = config.load(environ=home)
    assert (loaded.config, loaded.found, loaded.file) == (
        Config(),
        False,
        tmp_path / "config" / "config.toml",
    )
    with pytest.raises(ConfigError, match="no such config file"):
        config.load(tmp_path / "none.toml", environ=home)
    with pytest.raises(ConfigError, match="no such config file"):
        config.load(environ=home | {"MILK_TUI_CONFIG": str(tmp_path / "none.toml")})


def test_a_file_that_others_can_read_is_refused_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        config.load(file(tmp_path, "", 0o644), environ={})
    assert "chmod 600" in raised.value.hint


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * 1_000_001])
def test_a_file_that_is_no_text_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match=r"c\.toml: "):
        config.load(path, environ={})


def test_a_folder_is_no_config_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a regular file"):
        config.load(tmp_path, environ={})


def test_flags_lie_over_the_file_and_every_value_knows_where_it_came_from(tmp_path: Path) -> None:
    path = file(tmp_path, '[session]\nprimary = "m/a"\nescalation = "m/b"\n')
    loaded = config.load(path, primary="embedded:tiny", environ={})
    assert loaded.config.session.primary == "embedded:tiny"
    assert loaded.sources["session.primary"] == "--primary"
    assert loaded.sources["session.escalation"] == paths.shown(path)
    assert "context.cap" not in loaded.sources


def test_writing_keeps_comments_and_order_and_makes_the_file_private(tmp_path: Path) -> None:
    path = file(tmp_path, "# mine\n[ui]\nsidebar = false # narrow\n")
    config_edit.write(
        path, {("session", "primary"): "qwen2.5", ("agents", "qwen2.5", "model"): "ollama_chat/q"}
    )
    text = path.read_text()
    assert text.startswith("# mine\n[ui]\nsidebar = false # narrow\n")
    assert parse(text).agents["qwen2.5"].model == "ollama_chat/q"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    config_edit.write(path, {("agents", "qwen2.5", "model"): "ollama_chat/r", ("ui", "sidebar"): None})
    assert parse(path.read_text()).ui.sidebar is True
    assert parse(path.read_text()).agents["qwen2.5"].model == "ollama_chat/r"


def test_a_write_that_would_not_load_changes_nothing(tmp_path: Path) -> None:
    path = file(tmp_path, "# mine\n")
    with pytest.raises(ConfigError, match=r"context\.cap"):
        config_edit.write(path, {("context", "cap"): "much"})
    assert path.read_text() == "# mine\n"
    assert [p.name for p in tmp_path.iterdir()] == ["config.toml"]


def test_a_write_creates_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    config_edit.write(path, {("ui", "theme"): "milk"})
    assert parse(path.read_text()).ui.theme == "milk"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_every_setting_has_a_sentence_in_the_manual() -> None:
    undocumented = []
    for node in ast.parse(inspect.getsource(config)).body:
        if not isinstance(node, ast.ClassDef) or not node.name.endswith("Config") or node.name == "Config":
            continue
        for here, after in zip(node.body, [*node.body[1:], None], strict=True):
            if isinstance(here, ast.AnnAssign) and not isinstance(after, ast.Expr):
                undocumented.append(f"{node.name}.{ast.unparse(here.target)}")
    assert undocumented == []


def test_the_home_variable_moves_every_folder(tmp_path: Path) -> None:
    home = {"MILK_TUI_HOME": str(tmp_path), "XDG_RUNTIME_DIR": "/tmp"}
    folders = [
        find(home)
        for find in (paths.config_dir, paths.data_dir, paths.cache_dir, paths.log_dir, paths.runtime_dir)
    ]
    assert all(tmp_path in folder.parents for folder in folders)
    assert len(set(folders)) == 5
    assert paths.database_file(home) == tmp_path / "data" / "milk.db"
    assert paths.database_file(home | {"MILK_TUI_DATABASE": "/x/y.db"}) == Path("/x/y.db")


def test_reading_the_config_imports_nothing_heavy(tmp_path: Path) -> None:
    path = file(tmp_path, FULL)
    heavy = ("tomlkit", "asyncio", "click", "textual", "sqlite3", "httpx")
    code = (
        "import sys; from pathlib import Path; from milk_tui import config; "
        f"config.load(Path({str(path)!r})); print([m for m in {heavy!r} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
