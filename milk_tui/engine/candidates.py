"""Everything that could take a role on this machine: what ``milk-tui setup`` lets a person choose from."""

from __future__ import annotations

import os
from collections.abc import Mapping

from milk_tui.config import EMBEDDED_SIZES, Config
from milk_tui.core.records import Role
from milk_tui.engine import agent_spec
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.discovery import installed_programs
from milk_tui.engine.hosted import HOSTED
from milk_tui.engine.local_servers import probe_all, servers_to_probe

MOST_OF_A_SERVER = 12


async def candidates(config: Config, role: Role, environ: Mapping[str, str] | None = None) -> list[AgentSpec]:
    """Installed programs, models of local servers, models that a key opens, embedded models. For the primary the
    local ones come first, for the escalation agent the programs and the hosted ones."""
    environ = os.environ if environ is None else environ
    local = [
        agent_spec.served(role, model)
        for probe in await probe_all(servers_to_probe(environ), config.timeouts.probe)
        for model in probe.models[:MOST_OF_A_SERVER]
    ]
    hosted = [
        agent_spec.opened(role, each) for each in HOSTED if environ.get(each.key) and not config.privacy.local_only
    ]
    programs = installed_programs(config, role, environ)
    embedded = [agent_spec.embedded(role, size, "runs here, no server needed") for size in EMBEDDED_SIZES]
    if role is Role.PRIMARY:
        return [*local, *hosted, *embedded, *programs]
    return [*programs, *hosted, *local, *reversed(embedded)]
