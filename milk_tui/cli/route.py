"""``milk-tui route``: where a prompt would go, and why; no model is asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options

if TYPE_CHECKING:
    from milk_tui.core.records import RouteDecision, Session
    from milk_tui.engine.discovery import Discovery

NOBODY = "(none)"


@click.command()
@click.argument("prompt")
@click.option("--session", metavar="NAME", help="As in this session: its title, or the beginning of its id.")
@json_option
@pass_options
def route(options: Options, prompt: str, session: str | None, as_json: bool) -> None:
    """Say which agent PROMPT would go to, and why; - reads it from standard input. Nothing is sent.

    What holds in the most recent session of this directory (a pin, a question that waits) counts. The classifier,
    where it is on, is not asked.
    """
    from milk_tui.cli.prompt import whole_prompt
    from milk_tui.cli.stored import newest_here, opened, session_called
    from milk_tui.engine.discovery import discover

    text = whole_prompt(prompt) if prompt == "-" else prompt
    if not text.strip():
        raise click.UsageError("The prompt is empty.")
    config = options.loaded.config
    found = asyncio.run(discover(config, primary=options.primary, escalation=options.escalation))
    with opened(options) as store:
        of = session_called(store, session) if session else newest_here(store)
        from milk_tui.engine import way

        repeated = bool(of and config.routing.repeated and store.read_sync(lambda conn: way.repeats(conn, of.id, text)))
        decision, total = _decided(options, found, of, text, repeated)
    name = _name(found, decision)
    classifier = config.routing.classifier and decision.rule == "primary" and found.escalation is not None
    if as_json:
        output.as_json(
            {
                "agent": name,
                "decision": decision,
                "score": total,
                "threshold": config.routing.threshold,
                "classifier_would_be_asked": classifier,
                "session": of.id if of else None,
            }
        )
        return
    output.line(f"{decision.role} · {name}")
    output.line(f"{decision.rule}: {decision.reason}")
    from milk_tui.core.routing import signed

    if decision.parts:
        output.table([(part.name, f"{signed(part.value):>5}", part.detail) for part in decision.parts], indent="  ")
        output.line(f"  sum {signed(total)}; from {signed(config.routing.threshold)} on it is escalated")
    if classifier:
        output.line(f"{name} itself would be asked in one word where it belongs (routing.classifier).")


def _decided(
    options: Options, found: Discovery, session: Session | None, prompt: str, repeated: bool
) -> tuple[RouteDecision, float]:
    from milk_tui.core import routing
    from milk_tui.core.records import Role
    from milk_tui.engine import way

    state = way.route_state(
        options.loaded.config,
        prompt,
        primary=found.primary.name if found.primary else "the primary",
        escalation=found.escalation.name if found.escalation else None,
        session=session,
        down={} if found.primary else {Role.PRIMARY: "no model was found"},
        repeated=repeated,
    )
    decision = routing.decide(state)
    return decision, round(sum(part.value for part in decision.parts), 2)


def _name(found: Discovery, decision: RouteDecision) -> str:
    spec = found.agent(decision.role)
    return spec.name if spec else NOBODY
