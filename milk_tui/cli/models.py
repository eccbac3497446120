"""``milk-tui models``: the weights of the embedded models, listed and fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, json_option, pass_options
from milk_tui.cli.progress import ProgressLine
from milk_tui.config import EMBEDDED_SIZES

if TYPE_CHECKING:
    from milk_tui.embedded.fetch import FetchProgress


@click.group()
def models() -> None:
    """The small models that run on this machine."""


@models.command("list")
@json_option
@pass_options
def list_models(options: Options, as_json: bool) -> None:
    """List them, with what is here already."""
    from milk_tui.embedded.catalogue import MODELS
    from milk_tui.embedded.weights import find_weights
    from milk_tui.engine.embedding import embedded_settings

    settings = embedded_settings(options.loaded.config)
    here = {size: find_weights(model, settings) for size, model in MODELS.items()}
    if as_json:
        rows = [
            {
                "name": model.name,
                "title": model.title,
                "licence": model.licence,
                "bytes": model.bytes,
                "sha256": model.sha256,
                "path": str(here[size]) if here[size] else None,
                "note": model.note,
            }
            for size, model in MODELS.items()
        ]
        output.as_json(rows)
        return
    output.table(
        [
            (
                model.name,
                f"{model.bytes / 1e6:,.0f} MB",
                "here" if here[size] else "not here",
                model.title,
                model.note,
            )
            for size, model in MODELS.items()
        ],
        head=("name", "size", "weights", "model", "note"),
    )


@models.command()
@click.argument("size", type=click.Choice(EMBEDDED_SIZES))
@pass_options
def fetch(options: Options, size: str) -> int:
    """Fetch the weights of one.

    They are checked by their hash. Ctrl+C stops; the next time goes on from there."""
    import threading

    from milk_tui.embedded.cancel import CancelledByUserError, CancelToken
    from milk_tui.embedded.catalogue import find_model
    from milk_tui.embedded.weights import obtain_weights
    from milk_tui.engine.embedding import embedded_settings

    model = find_model(size)
    settings = embedded_settings(options.loaded.config, may_fetch=True)
    token, bar = CancelToken(), ProgressLine()
    outcome: list[object] = []

    def report(progress: FetchProgress) -> None:
        figures = f"{progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} MB" if progress.total else ""
        bar.show(progress.stage, progress.fraction, figures)

    def work() -> None:
        try:
            outcome.append(obtain_weights(model, settings, report, token))
        except BaseException as problem:
            outcome.append(problem)

    output.line(f"{model.title}, {model.bytes / 1e6:,.0f} MB, {model.licence} ({model.licence_url})", err=True)
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(0.2)
    except KeyboardInterrupt:
        token.cancel()
        worker.join(10)
        outcome = [CancelledByUserError()]
    bar.clear()
    match outcome[0]:
        case CancelledByUserError():
            output.line("Stopped. What was fetched is kept; the next time goes on from there.", err=True)
            return 130
        case BaseException() as problem:
            raise problem
        case path:
            click.echo(path)
            return 0
