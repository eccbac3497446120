"""What ``milk-tui setup`` offers for each role."""

from __future__ import annotations

from pathlib import Path

from milk_tui import config_file
from milk_tui.core.records import Role
from milk_tui.engine.candidates import candidates
from tests.engine.test_discovery import OLLAMA, TAGS, installed, serving


async def offered(role: Role, text: str = "", **environ: str) -> list[str]:
    config, _ = config_file.parse(text, "c.toml")
    found = await candidates(config, role, {"MILK_TUI_PROBE_PORTS": "none", **environ})
    assert all(spec.role is role for spec in found)
    return [spec.model for spec in found]


async def test_local_models_come_first_for_the_primary_and_hosted_ones_for_escalation() -> None:
    async with serving(OLLAMA, TAGS) as ollama:
        here = {"MILK_TUI_PROBE_PORTS": f"Ollama={ollama.port}", "OPENAI_API_KEY": "k"}
        first, second = await offered(Role.PRIMARY, **here), await offered(Role.ESCALATION, **here)
    assert first[0] == "ollama_chat/qwen2.5-coder:7b"
    assert second[0] == "openai/gpt-5.6"
    assert set(first) - {"openai/gpt-5.4-mini"} == set(second) - {"openai/gpt-5.6"}


async def test_the_embedded_models_are_always_there_the_best_one_first_for_escalation() -> None:
    assert await offered(Role.PRIMARY) == ["embedded:small", "embedded:tiny", "embedded:medium"]
    assert (await offered(Role.ESCALATION))[0] == "embedded:medium"


async def test_local_only_offers_nothing_hosted() -> None:
    models = await offered(Role.ESCALATION, "[privacy]\nlocal_only = true\n", OPENAI_API_KEY="k")
    assert all(model.startswith("embedded:") for model in models)


async def test_installed_programs_are_offered_first_for_escalation_unless_all_has_to_stay_here(tmp_path: Path) -> None:
    path = installed(tmp_path, "claude", "goose")["PATH"]
    config, _ = config_file.parse("", "c.toml")
    environ = {"MILK_TUI_PROBE_PORTS": "none", "OPENAI_API_KEY": "k", "PATH": path}
    names = [spec.name for spec in await candidates(config, Role.ESCALATION, environ)]
    assert names[:2] == ["claude", "goose"]
    local, _ = config_file.parse("[privacy]\nlocal_only = true\n", "c.toml")
    assert not {"claude", "goose"} & {spec.name for spec in await candidates(local, Role.ESCALATION, environ)}
