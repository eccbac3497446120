"""A stand-in for an agent that speaks the Agent Client Protocol, as a process of its own.

``command = (sys.executable, FAKE_ACP, "--home", FOLDER)``. What the model does is written in the prompt
(``scenario.py``); ``FAKE:NAME argument`` is what the program does before that: ``die`` · ``hang`` (deaf to being
cancelled) · ``rubbish`` · ``plan`` · ``sub TOOL`` (a call of a sub-agent) · ``ask die|twice`` · ``file`` (asks for a
file) · ``refuse`` · ``error TEXT`` · ``two`` (two messages in a row) · ``megabyte`` · ``flood`` (talks until it is
cancelled, as fast as it can) · ``daemon FILE`` (leaves a program behind that hides; its id is in the file).

``--cannot resume|load`` leaves a capability out, ``--version N`` speaks another protocol, ``--auth`` wants a login,
``--start exit|hang`` does not start. What comes in is kept in ``FOLDER/acp.jsonl``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.scenario import Call, Conversation, Cut, HostDoes, Pause, Reply, Say, Scenario, Think, Until

FAKE_ACP = str(Path(__file__).resolve())
DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
open(sys.argv[1], "w").write(str(os.getpid()))
for fd in range(3): os.close(fd)
time.sleep(600)
"""
"""A program that lets go of everything by which it could be found: parent, session, group, environment, terminal."""
_DIRECTIVE = re.compile(r"FAKE:([a-z]+)(?:[ \t]+((?:(?!FAKE:|SCN:)[^\n])*))?")


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Fake:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.home = Path(args.home)
        self.scenario = Scenario()
        self.asked: dict[int, asyncio.Future[Any]] = {}
        self.turns: dict[str, asyncio.Task[None]] = {}
        self.number = 0
        self.deaf = False

    async def run(self) -> int:
        stream = asyncio.StreamReader(limit=1 << 26)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), sys.stdin)
        while line := await stream.readline():
            message = json.loads(line)
            self.keep({"in": message})
            if "method" not in message:
                waiting = self.asked.pop(message["id"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(message.get("result") or {"error": message.get("error")})
            elif message["method"] == "session/cancel":
                turn = self.turns.get(message["params"]["sessionId"])
                if turn is not None and not self.deaf:
                    turn.cancel()
            else:
                task = asyncio.create_task(self.reply(message))
                if message["method"] == "session/prompt":
                    self.turns[message["params"]["sessionId"]] = task
        return 0

    async def reply(self, message: dict[str, Any]) -> None:
        told: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            told["result"] = await self.do(message["method"], message["params"])
        except RpcError as error:
            told["error"] = {"code": error.code, "message": "Internal error", "data": {"message": str(error)}}
        except (LookupError, TypeError, ValueError) as error:
            told["error"] = {"code": -32603, "message": f"the stand-in broke: {error!r}"}
        except asyncio.CancelledError:
            told["result"] = {"stopReason": "cancelled"}
        say(told)

    async def do(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                can: dict[str, Any] = {"loadSession": "load" not in self.args.cannot}
                can["sessionCapabilities"] = {} if "resume" in self.args.cannot else {"resume": {}}
                return {"protocolVersion": self.args.version, "agentCapabilities": can, "authMethods": []}
            case "session/new":
                if self.args.auth:
                    raise RpcError(-32000, "Authentication required")
                session = str(uuid.uuid4())
                (self.home / f"{session}.session").write_text("[]")
                return {"sessionId": session, "models": {"availableModels": [{"modelId": "big"}]}}
            case "session/set_model" if params["modelId"] == "big":
                return {}
            case "session/resume" | "session/load":
                if not (self.home / f"{params['sessionId']}.session").exists():
                    raise RpcError(-32002, "no such session")
                if method == "session/load":
                    self.update(params["sessionId"], "agent_message_chunk", content=text("an old answer"))
                return {}
            case "session/prompt":
                return await self.prompt(params["sessionId"], params["prompt"])
            case _:
                raise RpcError(-32601, f"no such method or value: {method}")

    async def prompt(self, session: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
        texts = [block["text"] for block in blocks]
        file = self.home / f"{session}.session"
        history = [*json.loads(file.read_text()), *texts]
        file.write_text(json.dumps(history))
        prompt = texts[-1]
        for name, argument in [(m[1], (m[2] or "").strip()) for m in _DIRECTIVE.finditer(prompt)]:
            if (ended := await self.directive(session, name, argument)) is not None:
                return ended
        results: tuple[str, ...] = ()
        for turn_round in range(20):
            reply = self.scenario.reply(Conversation(prompt, "\n".join(history), turn_round, results))
            if reply.status != 200:
                raise RpcError(-32603, reply.message or f"API Error: {reply.status}")
            called = await self.stream(session, reply)
            if not called:
                break
            results = tuple([await self.call(session, *call) for call in called])
        size = {"used": 5_000, "size": 200_000, "cost": {"amount": 0.02 * len(history), "currency": "USD"}}
        self.update(session, "usage_update", **size)
        usage = {"inputTokens": 10, "cachedReadTokens": 90, "cachedWriteTokens": 0, "outputTokens": 7}
        return {"stopReason": "end_turn", "usage": usage}

    async def directive(self, session: str, name: str, argument: str) -> dict[str, Any] | None:
        match name:
            case "die":
                sys.stderr.write("out of cheese\n")
                sys.stderr.flush()
                os._exit(3)
            case "hang":
                self.deaf = True
                await asyncio.Event().wait()
            case "rubbish":
                sys.stdout.write(
                    'hello \x1b[31m\n{"half": \n[]\n{"jsonrpc":"2.0","id":"?","result":[]}\n{"method":4}\n'
                )
                self.update(session, "unheard_of", x=1)
                self.update(session, "tool_call")
            case "plan":
                entries = [
                    {"content": "look", "status": "completed"},
                    {"content": "change it", "status": "in_progress"},
                ]
                self.update(session, "plan", entries=entries)
            case "sub":
                told: dict[str, Any] = {
                    "toolCallId": "sub1",
                    "kind": "read",
                    "title": argument,
                    "rawInput": {"path": "x"},
                }
                meta = {"claudeCode": {"toolName": argument, "parentToolUseId": "t0"}}
                self.update(session, "tool_call", **told, _meta=meta)
                self.update(session, "tool_call_update", toolCallId="sub1", status="completed", rawOutput="seen")
            case "file":
                self.keep({"file": await self.ask("fs/read_text_file", {"sessionId": session, "path": "/etc/passwd"})})
            case "refuse":
                return {"stopReason": "refusal"}
            case "error":
                raise RpcError(-32603, argument)
            case "two":
                self.update(session, "agent_message_chunk", content=text("one"), messageId="m1")
                self.update(session, "agent_message_chunk", content=text("two"), messageId="m2")
            case "megabyte":
                big = [{"type": "content", "content": text("x" * (1 << 20))}]
                told = {"toolCallId": "big", "kind": "read", "title": "Read big", "status": "completed", "content": big}
                self.update(session, "tool_call", **told)
            case "flood":
                for number in itertools.count():
                    self.update(session, "agent_message_chunk", content=text(f"{number * 7919 % 104729:x} "))
                    await asyncio.sleep(0)
            case "daemon":
                subprocess.run([sys.executable, "-c", DAEMON, argument], env={}, check=True)  # noqa: ASYNC221 (as an agent does)
            case "ask":
                requests = [
                    asyncio.create_task(self.permission(session, f"p{n}", {"command": f"rm {n}"})) for n in (1, 2)
                ]
                if argument == "die":
                    while not (self.home / "go").exists():  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                    os._exit(1)
                self.keep({"outcomes": [await request for request in requests]})
        return None

    async def permission(self, session: str, call_id: str, given: dict[str, Any], **told: Any) -> Any:
        options = [
            {"optionId": f"{kind}!", "name": kind, "kind": kind}
            for kind in ("allow_always", "allow_once", "reject_once")
        ]
        call = {"toolCallId": call_id, "title": f"Run {given}", "kind": "execute", "rawInput": given, **told}
        answer = await self.ask(
            "session/request_permission", {"sessionId": session, "toolCall": call, "options": options}
        )
        return answer["outcome"]

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.number += 1
        waiting = self.asked[self.number] = asyncio.get_running_loop().create_future()
        say({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return await waiting

    async def stream(self, session: str, reply: Reply) -> list[tuple[str, str, str]]:
        called = []
        await asyncio.sleep(reply.slow_s)
        for number, step in enumerate(reply.steps):
            await asyncio.sleep(reply.delay_s)
            match step:
                case Say(words):
                    self.update(session, "agent_message_chunk", content=text(words))
                case Think(words):
                    self.update(session, "agent_thought_chunk", content=text(words))
                case Call(name=name, arguments=arguments):
                    called.append((f"call_{len(self.asked)}_{number}_{uuid.uuid4().hex[:6]}", name, arguments))
                case Pause(seconds=seconds):
                    await (asyncio.Event().wait() if seconds is None else asyncio.sleep(seconds))
                case Until():
                    await step.passed()
                case Cut() | HostDoes():
                    os._exit(1)
        return called

    async def call(self, session: str, call_id: str, name: str, arguments: str) -> str:
        """A tool call in pieces: announced, asked for, done; ``edit`` comes with a diff, ``then`` is done instead
        of what it asked for."""
        given = json.loads(arguments or "{}")
        other = given.pop("then", None)
        kind = "edit" if name == "edit" else "execute"
        self.update(session, "tool_call", toolCallId=call_id, title=name, kind=kind, status="pending", rawInput={})
        told: dict[str, Any] = {"kind": kind}
        if name.startswith("mcp__"):
            told["_meta"] = {"claudeCode": {"toolName": name}}
        if name == "edit":
            told["content"] = [
                {"type": "diff", "path": given["path"], "oldText": given["old"], "newText": given["new"]}
            ]
        outcome = await self.permission(session, call_id, given, **told)
        allowed = outcome.get("optionId") == "allow_once!"
        self.keep({"outcome": outcome})
        done = [{"type": "content", "content": text(f"did {name}" if allowed else "refused")}]
        status = "completed" if allowed else "failed"
        more = {"rawInput": {"command": other}} if other else {}
        done = told.get("content", done)
        self.update(session, "tool_call_update", toolCallId=call_id, status=status, content=done, **more)
        return "done"

    def update(self, session: str, what: str, **fields: Any) -> None:
        update = {"sessionUpdate": what, **fields}
        say({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})

    def keep(self, entry: dict[str, Any]) -> None:
        record(self.home, entry)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def say(message: dict[str, Any]) -> None:
    text = json.dumps(message, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        text = json.dumps(message)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def record(home: Path, entry: dict[str, Any]) -> None:
    with (home / "acp.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def main(kind: type[Fake] = Fake) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", required=True)
    parser.add_argument("--cannot", action="append", default=[])
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument("--auth", action="store_true")
    parser.add_argument("--start", default="")
    args = parser.parse_args()
    record(Path(args.home), {"start": sys.argv[1:], "pid": os.getpid()})
    match args.start:
        case "exit":
            sys.stderr.write("Error: no configuration\n")
            return 2
        case "hang":
            time.sleep(3600)
    return asyncio.run(kind(args).run())


if __name__ == "__main__":
    sys.exit(main())
