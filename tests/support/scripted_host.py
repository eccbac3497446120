"""The model host with a scripted model in place of litellm: the same process and lines, started in no time.

``ModelHost(log, command=[sys.executable, "-m", "tests.support.scripted_host"])``. What it answers is
written in the prompt (``scenario.py``); ``--script FILE`` has directives for the first requests, one line
each; ``--record FILE`` keeps every request, one JSON object a line.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import stat
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from milk_tui.core.records import ErrorKind
from milk_tui.modelhost.__main__ import main
from milk_tui.modelhost.failures import StreamProblem
from milk_tui.modelhost.redact import Redactor
from tests.support import openai_shape
from tests.support.scenario import Call, Cut, Fail, HostDoes, Malformed, Pause, Reply, Say, Scenario, Think, Until

_SAID = {
    401: "Incorrect API key provided.",
    403: "Your key may not use this model.",
    404: "The model does not exist.",
    429: "Rate limit reached.",
}


class Refused(Exception):
    """An error answer of a server, as the host reads it."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.message)
        self.status_code = reply.status
        self.body = {"message": reply.message or _SAID.get(reply.status, "The server had an error.")}
        wait = reply.retry_after
        self.litellm_response_headers = {} if wait is None else {"retry-after": f"{wait:g}"}


class Library:
    """What the host uses of litellm."""

    def __init__(self, script: list[str], record: Path | None) -> None:
        self.models_by_provider = {"scripted": ["one", "two"], "openai": ["gpt-made", "gpt-other", "tts-made"]}
        self.model_cost: dict[str, dict[str, Any]] = {
            "gpt-made": {
                "mode": "chat",
                "max_input_tokens": 128_000,
                "input_cost_per_token": 2.5e-06,
                "output_cost_per_token": 1e-05,
                "supports_function_calling": True,
            },
            "gpt-other": {"mode": "chat"},
            "tts-made": {"mode": "audio_speech"},
        }
        self._scenario = Scenario()
        self._script = deque(script)
        self._record = record
        self._earlier: deque[dict[str, Any]] = deque(maxlen=openai_shape.REMEMBERED)

    async def acompletion(self, **body: Any) -> Any:
        if self._record is not None:
            kept = {name: value for name, value in body.items() if name not in ("timeout", "api_key")}
            with self._record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(kept, ensure_ascii=False) + "\n")
        talk = openai_shape.conversation(body)
        reply = self._scenario.parse(self._script.popleft(), talk) if self._script else self._scenario.reply(talk)
        tokens = _usage(body, reply, self._earlier) if reply.usage else None
        self._earlier.append(body)
        await asyncio.sleep(reply.slow_s)
        if reply.status != 200:
            raise Refused(reply)
        if reply.content_type:
            raise StreamProblem(ErrorKind.BAD_ANSWER, f"“{reply.content_type}” came instead of a stream of events.")
        return Stream(reply, tokens) if body["stream"] else _whole(reply, tokens)

    def get_llm_provider(self, model: str) -> tuple[str, str]:
        return model, model.partition("/")[0]

    def token_counter(self, model: str, text: str) -> int:
        return -(-len(text) // 4)


class Stream:
    """A streamed answer, in litellm's chunks."""

    def __init__(self, reply: Reply, tokens: Any) -> None:
        self.received_finish_reason = ""
        self.chunks: list[Any] = []
        self._events = self._run(reply, tokens)

    def __aiter__(self) -> AsyncGenerator[Any, None]:
        return self._events

    async def aclose(self) -> None:
        await self._events.aclose()

    async def _run(self, reply: Reply, tokens: Any) -> AsyncGenerator[Any, None]:
        calls = 0
        for step in reply.steps:
            await asyncio.sleep(reply.delay_s)
            match step:
                case Say(text):
                    yield _chunk(content=text)
                case Think(text):
                    yield _chunk(reasoning_content=text)
                case Call():
                    yield _chunk(tool_calls=[_call(step, calls)])
                    calls += 1
                case _:
                    if await _misbehave(step):
                        return
        self.received_finish_reason = reply.finish or ("tool_calls" if calls else "stop")
        yield _chunk(finish=self.received_finish_reason)
        if reply.linger:
            await asyncio.Event().wait()
        if tokens is not None:
            last = SimpleNamespace(choices=[], usage=tokens)
            self.chunks.append(last)
            yield last


async def _misbehave(step: Any) -> bool:
    match step:
        case Pause(seconds=None):
            await asyncio.Event().wait()
        case Pause(seconds=float(seconds)):
            await asyncio.sleep(seconds)
        case Until():
            await step.passed()
        case Cut(clean=True):
            return True
        case Cut():
            raise StreamProblem(ErrorKind.CUT, "the connection broke.")
        case Fail(message=message):
            raise Refused(Reply(status=500, message=message))
        case Malformed():
            raise StreamProblem(ErrorKind.BAD_ANSWER, "a piece of the stream is no JSON.")
        case HostDoes("die"):
            os._exit(3)
        case HostDoes("hang"):
            time.sleep(3600)  # noqa: ASYNC251 (a loop that hangs is the point)
        case HostDoes("rubbish"):
            os.write(_client(), b'no answer at all \x1b[31m\xff\n{"ev":"what"}\n[]\n' * 20)
    return False


def _client() -> int:
    """The pipe to the client: the host moved it away from 1; it is the one pipe that can be written to."""

    for entry in Path("/dev/fd").iterdir():
        fd = int(entry.name)
        try:
            found = fd > 2 and stat.S_ISFIFO(os.fstat(fd).st_mode)
            if found and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                return fd
        except OSError:
            continue
    return 1


def _chunk(finish: str | None = None, **delta: Any) -> Any:
    fields = {"content": None, "reasoning_content": None, "tool_calls": None, **delta}
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(**fields), finish_reason=finish)])


def _call(call: Call, place: int) -> Any:
    function = SimpleNamespace(name=call.name, arguments=call.arguments)
    return SimpleNamespace(index=place, id=f"call_{place}", function=function)


def _whole(reply: Reply, tokens: Any) -> Any:
    thought = "".join(step.text for step in reply.steps if isinstance(step, Think))
    calls = [_call(call, place) for place, call in enumerate(reply.calls)]
    message = SimpleNamespace(content=reply.text, reasoning_content=thought, tool_calls=calls)
    finish = reply.finish or ("tool_calls" if calls else "stop")
    return SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason=finish)], usage=tokens)


def _usage(body: dict[str, Any], reply: Reply, earlier: Iterable[dict[str, Any]]) -> Any:
    counted = openai_shape.usage(body, reply, earlier)
    details = {n: SimpleNamespace(**v) for n, v in counted.items() if isinstance(v, dict)}
    return SimpleNamespace(**{**counted, **details})


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", type=Path)
    parser.add_argument("--record", type=Path)
    args = parser.parse_args()
    lines = args.script.read_text("utf-8").splitlines() if args.script else []

    def load(redact: Redactor) -> asyncio.Future[Any]:
        library = asyncio.get_running_loop().create_future()
        library.set_result(Library([line for line in lines if line.strip()], args.record))
        return library

    main(load)


if __name__ == "__main__":
    run()
