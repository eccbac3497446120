"""What was said before the command's name, and what follows from it, worked out when it is first asked
for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from milk_tui.config import Loaded
    from milk_tui.engine.launch import Launch


@dataclass(kw_only=True)
class Options:
    """The options of ``milk-tui`` itself."""

    primary: str | None = None
    escalation: str | None = None
    config: Path | None = None
    database: Path | None = None
    debug: bool = False

    @cached_property
    def loaded(self) -> Loaded:
        """The configuration with these options laid over it; raises ``ConfigError``."""
        from milk_tui import config

        return config.load(self.config, primary=self.primary, escalation=self.escalation)

    @cached_property
    def database_file(self) -> Path:
        from milk_tui import paths

        return (self.database or paths.database_file()).expanduser().absolute()

    def launch(self, *, session: str | None = None, new: bool = False) -> Launch:
        """What the engine is told about this run."""
        from milk_tui.engine.launch import Launch

        return Launch(
            directory=Path.cwd(),
            session=session,
            new=new,
            primary=self.primary,
            escalation=self.escalation,
            config_path=self.config,
            database=self.database,
        )


pass_options = click.make_pass_decorator(Options, ensure=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
