"""What the settings screen says about the row under the cursor. Pure, but for whether a key's variable is set."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from milk_tui.config import Provider
from milk_tui.config_schema import plain
from milk_tui.core.records import Role
from milk_tui.core.text import clean, one_line
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.agent_tables import KINDS
from milk_tui.engine.settings_desk import Held, takes_effect
from milk_tui.ui.row_list import Row
from milk_tui.ui.settings_rows import AgentRow, ButtonRow, PlayerRow, SettingRow, meaning_of, value_shown
from milk_tui.ui.words import TextRow, blank


def detail_rows(row: Row | None, *, act: Mapping[str, str]) -> list[Row]:
    """What the row under the cursor is about. ``act``: keys by the id of their action."""
    match row:
        case SettingRow():
            return _about_setting(row.held)
        case AgentRow():
            return _about_agent(row, act)
        case PlayerRow():
            return _about_player(row, act)
        case ButtonRow():
            return [
                TextRow("add", "Add an agent", "strong"),
                blank("gap"),
                *(
                    TextRow(f"kind:{kind}", f"{title}: {about}", "", ("· ", "dim"))
                    for kind, (title, about) in KINDS.items()
                ),
                blank("gap2"),
                TextRow(
                    "keys",
                    "Keys never go into the config: the agent names the variable that holds its key, or the "
                    "program that prints it.",
                    "dim",
                ),
            ]
        case _:
            return [TextRow("nothing", "/ finds settings by words", "dim")]


def _about_setting(held: Held) -> list[Row]:
    setting = held.setting
    listed: list[Row] = [
        TextRow("key", clean(setting.key), "strong"),
        TextRow("meaning", clean(meaning_of(setting))),
        blank("gap"),
        _pair("now", value_shown(held)),
        _pair("from", held.source if not held.is_default else "its default"),
        _pair("default", value_shown(replace(held, value=plain(setting.default)))),
        _pair("allowed", setting.allowed),
        _pair("changes", f"hold {takes_effect(setting.path)}"),
    ]
    if held.fixed:
        listed.append(TextRow("fixed", f"{held.source} lies over the file: a change here holds without it.", "warning"))
    return listed


def _about_agent(row: AgentRow, act: Mapping[str, str]) -> list[Row]:
    spec = row.spec
    roles = " and ".join(str(role) for role in row.roles) or "none now"
    listed: list[Row] = [
        TextRow("name", clean(row.name), "strong"),
        *_said(row),
        TextRow("kind", f"{KINDS[spec.provider][0]}: {KINDS[spec.provider][1]}"),
        blank("gap"),
        _pair("model", spec.model or "the program's own"),
    ]
    if spec.own_program:
        listed.append(_pair("program", " ".join(spec.command)))
    if spec.provider is Provider.LITELLM:
        listed.append(_pair("server", spec.api_base or "the provider's own"))
        listed.append(_pair("key", key_source(spec)))
    listed.append(_pair("role", roles))
    keys = (
        ("edit-setting", "hides its fields" if row.unfolded else "shows its fields"),
        ("test-agent", "says hello"),
        ("primary-agent", "makes it the primary"),
        ("escalation-agent", "the escalation agent"),
        ("remove-agent", "takes it out"),
    )
    return [*listed, blank("gap3"), *_how(keys, act)]


def _about_player(row: PlayerRow, act: Mapping[str, str]) -> list[Row]:
    who = row.spec.name if row.spec else "nobody"
    told = "answers first" if row.role is Role.PRIMARY else "takes over when it is asked to"
    listed: list[Row] = [
        TextRow("role", f"the {row.role} agent: {clean(who)}", "strong"),
        *_said(row),
        TextRow("told", f"It {told}."),
        blank("gap"),
    ]
    if row.spec is None:
        listed.append(TextRow("advice", row.advice, "warning"))
    else:
        listed += [_pair("model", row.spec.shown), _pair("from", row.spec.source)]
        if row.spec.provider is Provider.LITELLM:
            listed.append(_pair("key", key_source(row.spec)))
    return [*listed, blank("gap3"), *_how((("edit-setting", "another model"), ("test-agent", "says hello")), act)]


def _said(row: AgentRow | PlayerRow) -> list[Row]:
    return [TextRow("said", row.said, row.said_look)] if row.said else []


def key_source(spec: AgentSpec) -> str:
    """Where an agent's key is from; never the key."""
    if spec.api_key_command:
        return f"printed by {spec.api_key_command[0]}"
    if not spec.api_key_env:
        return "none, or litellm's usual variable"
    return f"${spec.api_key_env}, {'set' if os.environ.get(spec.api_key_env) else 'NOT set'}"


def _how(keys: Sequence[tuple[str, str]], act: Mapping[str, str]) -> list[Row]:
    return [TextRow(f"how:{id_}", text, "dim", (f"{act[id_]} ", "key")) for id_, text in keys if act.get(id_)]


def _pair(name: str, value: str) -> TextRow:
    return TextRow(f"pair:{name}", clean(one_line(value, 2_000)), "", (f"{name:<8}", "dim"))
