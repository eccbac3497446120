"""Trying an agent out without a session: its runtime is started, asked to say hello, and ended again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from milk_tui import paths
from milk_tui.config import Config
from milk_tui.core.errors import MilkError
from milk_tui.engine import discovery, roster
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.hello import Hello, say_hello

if TYPE_CHECKING:
    from milk_tui.embedded.manager import EmbeddedManager


async def try_out(
    config: Config, spec: AgentSpec, directory: Path, progress: Callable[[str], None] = lambda _: None
) -> Hello:
    """Raises nothing but cancelling: what goes wrong is in the result."""
    from milk_tui.engine.workspace import host_command
    from milk_tui.modelhost.client import ModelHost

    made: list[EmbeddedManager] = []

    def manager() -> EmbeddedManager:
        if not made:
            from milk_tui.embedded.manager import EmbeddedManager
            from milk_tui.engine.embedding import embedded_settings

            made.append(EmbeddedManager(embedded_settings(config), lambda status: progress(status.text)))
        return made[0]

    try:
        discovery.usable(config, spec)
        log = paths.private_folder(paths.log_dir()) / "modelhost.log"
    except MilkError as error:
        return Hello(ok=False, problem=error.what, hint=error.hint)
    host = ModelHost(log, command=host_command())
    try:
        if not spec.own_program:
            await host.start()
        agent = roster.build(spec, config, host, manager)
        try:
            return await say_hello(agent, spec.role, str(directory), progress=progress)
        finally:
            await agent.aclose()
    except MilkError as error:
        return Hello(ok=False, problem=error.what, hint=error.hint)
    finally:
        for each in made:
            await each.aclose()
        await host.aclose()


def must_fetch(config: Config, spec: AgentSpec) -> bool:
    """True for an embedded model whose weights are not here: trying it out would fetch them."""
    if not spec.embedded_size:
        return False
    from milk_tui.embedded.catalogue import find_model
    from milk_tui.embedded.weights import find_weights
    from milk_tui.engine.embedding import embedded_settings

    return find_weights(find_model(spec.embedded_size), embedded_settings(config)) is None
