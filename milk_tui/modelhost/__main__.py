"""``python -m milk_tui.modelhost``: the child process around litellm."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milk_tui.modelhost.loading import Loader


def main(load: Loader | None = None) -> None:
    """Serve on the standard streams until the other side closes them; ``load`` gets another library.

    The streams are taken over first, and what a library prints or reads goes nowhere: it can't disturb the
    lines, and can't put a prompt into the log.
    """

    stdin, stdout = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)

    import asyncio

    from milk_tui.modelhost import hostlog, loading
    from milk_tui.modelhost.serving import Host

    async def serve() -> None:
        await Host(load or loading.load).run(os.fdopen(stdin, "rb", 0), os.fdopen(stdout, "wb", 0))
        os._exit(0)  # at once: threads of the library may hang, and nobody is left to wait for them

    try:
        asyncio.run(serve())
    except BaseException as error:
        hostlog.say(f"stopped by {type(error).__name__}")
        os._exit(1)


if __name__ == "__main__":
    main()
