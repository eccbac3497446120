"""The settings as a list: each has a kind, a meaning and a way to be written that is read back as it was."""

from __future__ import annotations

import pytest
from msgspec.structs import fields, replace

from milk_tui import config_schema
from milk_tui.config import AgentConfig, Config, McpConfig
from milk_tui.config_schema import Kind, Setting
from milk_tui.core.errors import ConfigError

CONFIG = Config(
    agents={"a.b": AgentConfig(model="m/x", temperature=0.5)}, mcp={"git": McpConfig(command=("uvx", "git"))}
)
BY_KEY = {setting.key: setting for setting in config_schema.settings(CONFIG)}


def test_every_field_of_the_configuration_is_a_setting_with_a_meaning() -> None:
    sections = {info.name for info in fields(Config)} - {"keys"}
    assert {setting.section for setting in BY_KEY.values()} == sections
    assert [key for key, setting in BY_KEY.items() if not setting.meaning] == []


@pytest.mark.parametrize(
    ("key", "kind", "choices"),
    [
        ("ui.sidebar", Kind.SWITCH, (True, False)),
        ("context.cache_ttl", Kind.CHOICE, ("5m", "1h")),
        ("helper.enabled", Kind.CHOICE, (True, False, "auto")),
        ('agents."a.b".role', Kind.CHOICE, ("primary", "escalation", None)),
        ('agents."a.b".provider', Kind.CHOICE, ("litellm", "embedded", "claude-cli", "acp")),
        ('agents."a.b".window_tokens', Kind.NUMBER, ()),
        ("timeouts.probe", Kind.NUMBER, ()),
        ("ui.theme", Kind.TEXT, ()),
        ("mcp.git.command", Kind.LIST, ()),
        ("helper.carrier_kinds", Kind.LIST, ("turn.started", "tool.started")),
        ("routing.signals", Kind.PAIRS, ()),
        ("mcp.git.headers", Kind.PAIRS, ()),
    ],
)
def test_a_setting_is_of_the_kind_that_its_type_says(key: str, kind: Kind, choices: tuple[object, ...]) -> None:
    assert (BY_KEY[key].kind, BY_KEY[key].choices) == (kind, choices)


@pytest.mark.parametrize("setting", BY_KEY.values(), ids=lambda setting: setting.key)
def test_what_is_written_for_a_value_is_read_back_as_that_value(setting: Setting) -> None:
    value = config_schema.value_of(CONFIG, setting.path)
    if value in ("", None) and setting.kind is not Kind.TEXT:
        assert config_schema.shown(value) == "unset"
        return
    assert config_schema.read(setting, config_schema.written(setting, value)) == value
    assert config_schema.shown(value)


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("context.cap", " 12,000 ", 12_000),
        ("context.cap", "12_000", 12_000),
        ("timeouts.probe", "0.5", 0.5),
        ("timeouts.probe", "2", 2),
        ('agents."a.b".temperature', "", None),
        ("routing.escalate", "design review\n\n  plan \n", ["design review", "plan"]),
        ("routing.signals", "x = y = 2\n*refactor* = -1.5", {"x = y": 2.0, "*refactor*": -1.5}),
        ("mcp.git.headers", "Authorization = TOKEN", {"Authorization": "TOKEN"}),
        ("helper.enabled", "on", True),
        ("helper.enabled", "auto", "auto"),
        ('agents."a.b".role', "unset", None),
    ],
)
def test_a_person_may_write_it_as_people_do(key: str, written: str, value: object) -> None:
    assert config_schema.read(BY_KEY[key], written) == value


@pytest.mark.parametrize(
    ("key", "written", "allowed"),
    [
        ("context.cap", "much", "a whole number from 0 to 10_000_000"),
        ("context.cap", "-1", "a whole number from 0"),
        ("context.cap", "1.5", "a whole number"),
        ("context.cap", "", "a whole number"),
        ("timeouts.probe", "0", "above 0"),
        ("timeouts.probe", "nan", "a number"),
        ('agents."a.b".temperature', "3", "or unset"),
        ("helper.carrier_kinds", "turn.ended", '"turn.started"'),
        ("helper.enabled", "perhaps", '"auto"'),
        ("routing.signals", "x", "NAME = a number"),
        ("routing.signals", "x = y", "NAME = a number"),
        ("ui.theme", "a\x1b[2J", "without them"),
    ],
)
def test_what_is_not_allowed_is_said_with_what_is(key: str, written: str, allowed: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config_schema.read(BY_KEY[key], written)
    assert allowed in raised.value.hint
    assert "\x1b" not in str(raised.value)


def test_an_agent_that_is_not_there_has_no_value() -> None:
    assert config_schema.value_of(replace(CONFIG, agents={}), ("agents", "a.b", "model")) is None
