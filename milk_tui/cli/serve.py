"""``milk-tui serve``: the screen in a browser on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from milk_tui.cli import output
from milk_tui.cli.options import Options, pass_options
from milk_tui.core.errors import MilkError

if TYPE_CHECKING:
    from milk_tui.serve.access import Gate

PORT = 8100


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any that is free.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--expose", is_flag=True, help="Allow a --host that others can reach; they need the address with its key."
)
@click.option(
    "--screens", type=click.IntRange(1, 64), default=4, show_default=True, help="Pages open at once, at most."
)
@click.option("--session", metavar="NAME", help="Open this session in every page.")
@click.option("--public", default="", metavar="URL", help="The address of a proxy (with TLS) that passes on to here.")
@click.option("--new", is_flag=True, help="Begin a new session in every page.")
@click.option("--plain", is_flag=True, help="Pages of lines and words: no frames, no motion.")
@pass_options
def serve(
    options: Options,
    port: int,
    host: str,
    expose: bool,
    screens: int,
    session: str | None,
    public: str,
    new: bool,
    plain: bool,
) -> int:
    """Show the screen in a browser.

    Each page has a program of its own, for the directory that this is run in; closing the page saves and ends it.
    The address that is printed holds a key: whoever has it can do what you can do here. Agents, config and database
    are those named before the word serve."""
    if new and session is not None:
        raise click.UsageError("--new and --session exclude each other.")
    if find_spec("textual_serve") is None:
        raise MilkError(
            "The screen in a browser needs textual-serve, which is not installed.",
            'Run: pip install "milk-tui[serve]"',
        )
    from milk_tui.serve.access import Gate, is_loopback, origin_of

    if public and not origin_of(public):
        raise click.UsageError(f"{public} is no address of a proxy, such as https://milk.example.")
    if not is_loopback(host):
        if not expose:
            raise click.UsageError(
                f"{host} can be reached from other machines. Add --expose if that is what you want; the connection is "
                "not encrypted, so ssh -L is the better way."
            )
        output.error(
            "warning: other machines can reach this, unencrypted; whoever has the address can run what you can run."
        )
    options.loaded  # noqa: B018 (a config that can't be read is said here, not in a page)
    desktop = (
        () if is_loopback(host) and not public else ("DISPLAY", "WAYLAND_DISPLAY")
    )  # a link is not opened where nobody sits
    environment = {name: value for name, value in os.environ.items() if name not in desktop}
    arguments = program(options, session=session, new=new, plain=plain)
    return asyncio.run(_serve(Gate(host, origin_of(public)), port, screens, arguments, environment))


def program(options: Options, *, session: str | None, new: bool, plain: bool = False) -> list[str]:
    """The command of one page's program: this one, with the options that were given before ``serve``."""
    given: list[tuple[str, object]] = [
        ("--primary", options.primary),
        ("--escalation", options.escalation),
        ("--config", options.config and options.config.expanduser().absolute()),
        ("--database", options.database and options.database_file),
        ("--session", session),
    ]
    flags = [name for name, on in (("--new", new), ("--plain", plain), ("--debug", options.debug)) if on]
    values = [f"{name}={value}" for name, value in given if value is not None]
    return [sys.executable, "-P", "-m", "milk_tui", *values, *flags]


async def _serve(gate: Gate, port: int, screens: int, arguments: list[str], environment: dict[str, str]) -> int:
    from milk_tui.serve.server import ScreenServer

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = ScreenServer(arguments, gate=gate, port=port, screens=screens, environment=environment)
    try:
        await server.begin()
    except OSError as error:
        raise MilkError(
            f"{gate.host} port {port} can't be listened on: {error.strerror or error}.",
            "Choose another: milk-tui serve --port 0",
        ) from error
    if gate.public:
        output.line(f"Listening at {gate.host}:{server.port} for {gate.public}")
    output.line(f"Open {server.address}")
    output.line("Keep it to yourself: it is the key. Ctrl+C ends the server and saves.")
    sys.stdout.flush()
    await stop.wait()
    with suppress(OSError):  # the terminal may be gone
        output.line("Saving …")
    await server.end()
    return 0
