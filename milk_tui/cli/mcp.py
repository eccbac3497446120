"""``milk-tui mcp``: the shared memory for other programs, over the Model Context Protocol."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from milk_tui.cli.options import Options, pass_options


@click.command()
@click.option("--as", "named", metavar="NAME", default="", help="The agent that the client is.")
@click.option("--session", metavar="ID", default="", help="The session that it works in, instead of the newest here.")
@pass_options
def mcp(options: Options, named: str, session: str) -> None:
    """Serve the shared memory over standard input and output.

    For Claude Code, Cursor and others, while the screen runs or not: facts to recall, read, list, record and forget,
    the need and the perception; pinned facts and perception also as resources.

    Without --as the client is the configured agent that its program drives (Claude Code: provider claude-cli). A client
    that is none of the agents is given only facts for all; what it states is marked as untrusted and belongs to no
    session of yours.
    """
    from milk_tui.interop.mcp_memory import ClientMemory
    from milk_tui.interop.mcp_server import Server

    memory = ClientMemory(
        options.loaded.config, lambda: options.database_file, Path.cwd(), named=named, session=session
    )
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        Server(memory, incoming, outgoing).run()
    except KeyboardInterrupt:
        return
    finally:
        sys.stdout = sys.__stdout__
