"""The host's log: its standard error, which its client sent to a file. Bounded; no keys, no prompts in it."""

from __future__ import annotations

import logging
import os
import re
import time
import warnings

from milk_tui.core.text import one_line
from milk_tui.modelhost.process import LOG_BYTES
from milk_tui.modelhost.redact import Redactor

_LIBRARIES = (
    "LiteLLM",
    "LiteLLM Router",
    "LiteLLM Proxy",
    "openai",
    "anthropic",
    "httpx",
    "httpcore",
    "aiohttp",
)
_TALKATIVE = ("LITELLM_LOG", "OPENAI_LOG", "ANTHROPIC_LOG", "HTTPX_LOG_LEVEL", "AIOHTTP_LOG")
_LINE = 300


def say(text: str) -> None:
    """Append one line. When the file has grown to four times ``LOG_BYTES`` it starts again from nothing."""

    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    try:
        if os.fstat(2).st_size > 4 * LOG_BYTES:
            os.ftruncate(2, 0)
        os.write(2, f"{stamp} host: {text}\n".encode("utf-8", "replace"))
    except OSError:
        pass


class _Handler(logging.Handler):
    """Writes where a record comes from and the fixed part of what it says.

    The values put into a message, what follows a colon or a quote in a message that was put together
    already, and the text of an exception may quote a prompt: they stay out.
    """

    def __init__(self, redact: Redactor) -> None:
        super().__init__(logging.WARNING)
        self._redact = redact

    def emit(self, record: logging.LogRecord) -> None:
        try:
            fixed = str(record.msg) if record.args else re.split(r"[:=\[{\"'`]", str(record.msg))[0]
            error = record.exc_info[0] if record.exc_info else None
            kind = f" ({error.__name__})" if error is not None else ""
            place = f"{record.module}:{record.lineno}"
            say(f"{record.levelname} {record.name} {place}: {one_line(self._redact(fixed), _LINE)}{kind}")
        except Exception:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """A record that can't be written is dropped: the default would print it whole."""


def quiet_environment() -> None:
    """Before any library is imported: no debug output, which would hold prompts, and no Python warnings,
    which may."""

    for name in _TALKATIVE:
        os.environ.pop(name, None)
    warnings.simplefilter("ignore")


def configure(redact: Redactor) -> None:
    """After the libraries are imported: everything they log goes through our handler and nowhere else."""

    handler = _Handler(redact)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.ERROR)
    logging.getLogger("asyncio").setLevel(logging.ERROR)
