"""A stand-in for the ``claude`` program: its measured protocol, old and new, as a process of its own.

``command = (sys.executable, FAKE_CLAUDE, "--fake", "new", "--home", FOLDER)``. What the model does is written in the
prompt (``scenario.py``); ``FAKE:NAME argument`` is what the program itself does before that:

- ``retry N CODE``: the API refuses N times. ``login``: nobody is logged in. ``own``: a turn of its own comes first.
- ``compact``: shortens its history. ``task TOOL JSON``: a sub-agent says a tag and calls a tool.
- ``ask NAME``: a permission request and then ``die`` · ``withdraw`` · ``twice`` (two at once).
- ``megabyte``: a tool result of one megabyte on one line. ``rubbish``: lines that are no JSON.
- ``die`` · ``hang`` (also deaf to interrupts) · ``silent`` (until interrupted) · ``slash``: output of a command.

Each start and each line that comes in is kept in ``FOLDER/record.jsonl``; sessions outlive the process there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import time
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.scenario import Call, Conversation, Cut, Fail, HostDoes, Pause, Reply, Say, Scenario, Think, Until

FAKE_CLAUDE = str(Path(__file__).resolve())
_DIRECTIVE = re.compile(r"FAKE:([a-z]+)(?:[ \t]+((?:(?!FAKE:|SCN:)[^\n])*))?")
COST = 0.01


class Fake:
    """One process of one session."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.new = args.fake == "new"
        self.id = args.resume or args.session_id or str(uuid.uuid4())
        self.file = Path(args.home) / f"{self.id}.json"
        self.kept: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.total = self.kept.get("cost", 0.0) if self.new else 0.0
        self.scenario = Scenario()
        self.asked: dict[str, asyncio.Future[Any]] = {}
        self.prompts: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.turn: asyncio.Task[None] | None = None
        self.hooks = False
        self.deaf = False
        self.requests = 0

    @property
    def static(self) -> str:
        given = Path(self.args.append_system_prompt_file).read_text() if self.args.append_system_prompt_file else ""
        return str(self.kept.setdefault("static", given)) if self.new else given

    async def run(self) -> int:
        reader = asyncio.create_task(self.listen())
        if self.args.mcp_config:
            await self.rpc("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "claude-code"}})
            listed = await self.rpc("tools/list", {})
            record(self.args.home, {"tools": [tool["name"] for tool in listed["result"]["tools"]]})
        while (message := await self.prompts.get()) is not None:
            self.turn = asyncio.create_task(self.answer(message))
            try:
                await self.turn
            except asyncio.CancelledError:
                self.result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_streaming")
        reader.cancel()
        return 0

    async def listen(self) -> None:
        stream = asyncio.StreamReader(limit=1 << 26)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), sys.stdin)
        while line := await stream.readline():
            message = json.loads(line)
            record(self.args.home, {"in": message})
            self.hear(message)
        self.prompts.put_nowait(None)

    def hear(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "control_request" if self.deaf:
                pass
            case "control_request":
                request = message["request"]
                told: dict[str, Any] = {"subtype": "success", "request_id": message["request_id"], "response": {}}
                match request["subtype"]:
                    case "initialize":
                        self.hooks = bool(request.get("hooks"))
                        told["response"] = {"commands": [], "pid": os.getpid()}
                    case "interrupt":
                        if self.turn is not None and not self.turn.done():
                            self.turn.cancel()
                    case other:
                        told |= {"subtype": "error", "error": f"Unsupported control request subtype: {other}"}
                say({"type": "control_response", "response": told})
            case "control_response":
                response = message["response"]
                waiting = self.asked.pop(response["request_id"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(response.get("response", {"error": response.get("error")}))
            case "user":
                if self.new:
                    self.lifecycle(message["uuid"], "queued")
                self.prompts.put_nowait(message)

    async def ask(self, request: dict[str, Any]) -> Any:
        """A request of ours; one that is cancelled is withdrawn."""
        request_id = str(uuid.uuid4())
        waiting = self.asked[request_id] = asyncio.get_running_loop().create_future()
        say({"type": "control_request", "request_id": request_id, "request": request})
        try:
            return await waiting
        except asyncio.CancelledError:
            say({"type": "control_cancel_request", "request_id": request_id})
            raise

    async def rpc(self, method: str, params: dict[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": len(method), "method": method, "params": params}
        answer = await self.ask({"subtype": "mcp_message", "server_name": "milk", "message": message})
        return answer["mcp_response"]

    def lifecycle(self, command: str, state: str) -> None:
        say({"type": "command_lifecycle", "command_uuid": command, "state": state, "session_id": self.id})

    async def answer(self, message: dict[str, Any]) -> None:
        blocks = [block["text"] for block in message["message"]["content"] if block["type"] == "text"]
        prompt = blocks[-1]
        own = [(m[1], (m[2] or "").strip()) for m in _DIRECTIVE.finditer(prompt)]
        if ("own", "") in own and self.new:
            self.init()
            await self.stream(Reply(steps=(Say("this is a turn of its own"),)))
            self.result(result="this is a turn of its own")
        if self.new:
            self.lifecycle(message["uuid"], "started")
        self.init()
        if prompt.startswith("/") and not (self.new and message.get("client_composed")):
            self.result(result=f"Unknown command: {prompt.split()[0]}")
            return
        for name, argument in own:
            if await self.do(name, argument):
                return
        results: tuple[str, ...] = ()
        for turn_round in range(20):
            talk = Conversation(prompt, self.static, turn_round, results, len(self.kept.get("prompts", [])) + 1)
            reply = self.scenario.reply(talk)
            if reply.status != 200:
                self.fail(reply.status, reply.message or f"API Error: {reply.status}")
                return
            await asyncio.sleep(reply.slow_s)
            said, called = await self.stream(reply)
            if not called:
                self.kept.setdefault("prompts", []).append(blocks)
                self.result(result=said)
                return
            results = tuple([await self.call(use) for use in called])

    async def do(self, name: str, argument: str) -> bool:
        """One directive; True when the turn is over with it."""
        match name:
            case "retry":
                times, _, status = argument.partition(" ")
                for attempt in range(1, int(times) + 1):
                    error = {"error_status": int(status or 401), "error": "authentication_failed"}
                    system("api_retry", attempt=attempt, max_retries=3, retry_delay_ms=10.5, **error)
            case "login":
                self.fail(None, "Not logged in · Please run /login")
                return True
            case "slash":
                self.result(result="Compacted nothing.")
                return True
            case "compact":
                system("status", status="compacting")
                trigger = {"trigger": "auto", "pre_tokens": 150_000, "post_tokens": 9_000}
                system("compact_boundary", compact_metadata=trigger)
            case "task":
                await self.task(argument)
            case "ask":
                await self.asking(argument)
            case "megabyte":
                use = {"type": "tool_use", "id": "toolu_big", "name": "Read", "input": {"file_path": "big"}}
                self.assistant([use])
                self.tool_result("toolu_big", "x" * (1 << 20), failed=False)
            case "rubbish":
                sys.stdout.write('no answer at all \x1b[31m\n{"half": \n[]\n"text"\n{"type": 7}\n{"type":"later"}\n')
                sys.stdout.flush()
            case "die":
                sys.stderr.write("\x1b[31mfatal\x1b[0m: out of cheese\n")
                sys.stderr.flush()
                os._exit(3)
            case "hang":
                self.deaf = True
                await asyncio.Event().wait()
            case "silent":
                await asyncio.Event().wait()
        return False

    async def task(self, argument: str) -> None:
        """A sub-agent: it says a tag and calls a tool, all marked as inside the call that made it."""
        tool, _, arguments = argument.partition(" ")
        use = {"type": "tool_use", "id": "toolu_task", "name": "Task", "input": {"prompt": "look"}}
        self.assistant([use])
        await self.hook("toolu_task", "Agent", {})
        inside = {"type": "tool_use", "id": "toolu_in", "name": tool, "input": json.loads(arguments or "{}")}
        nonces = re.findall(r"<milk:[A-Za-z]+:([a-z0-9]{6})>", self.static) or ["nononc"]
        text = f"<milk:percept:{nonces[0]}>Said by a sub-agent.</milk:percept:{nonces[0]}>"
        event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        say({"type": "stream_event", "event": event, "parent_tool_use_id": "toolu_task"})
        self.assistant([{"type": "text", "text": text}, inside], parent="toolu_task")
        await self.hook("toolu_in", tool, {}, inside=True)
        if tool == "Bash":
            request = {
                "subtype": "can_use_tool",
                "tool_name": tool,
                "input": {"command": "x"},
                "tool_use_id": "toolu_in",
            }
            await self.ask(request | {"agent_id": "a1"})
        result, failed = "looked", False
        if tool.startswith("mcp__milk__"):
            result, failed = await self.milk(inside)
        self.tool_result("toolu_in", result, failed=failed, parent="toolu_task")
        self.tool_result("toolu_task", "the report", failed=False)

    async def asking(self, how: str) -> None:
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -r x"}, "tool_use_id": "t1"}
        first = asyncio.create_task(self.ask(request))
        if how == "twice":
            second = asyncio.create_task(self.ask(request | {"input": {"command": "rm -r y"}, "tool_use_id": "t2"}))
            record(self.args.home, {"verdicts": [await first, await second]})
            return
        await self.until("go")
        if how == "die":
            os._exit(1)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    async def until(self, name: str) -> None:
        """Wait for the test to make a file."""
        while not (Path(self.args.home) / name).exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def stream(self, reply: Reply) -> tuple[str, list[dict[str, Any]]]:
        """One message, streamed as the API sends it; its text, and the calls in it."""
        self.requests += 1
        message_id = f"msg_{os.getpid()}_{self.requests}"
        said, blocks = "", []
        index, kind, whole = -1, "", ""
        event({"type": "message_start", "message": {"id": message_id, "model": "fake", "content": []}})

        def close() -> None:
            if kind:
                block = {"type": kind, "text" if kind == "text" else "thinking": whole}
                self.assistant([block], message_id=message_id)
                event({"type": "content_block_stop", "index": index})

        for number, step in enumerate(reply.steps):
            await asyncio.sleep(reply.delay_s)
            match step:
                case Say(text) | Think(text):
                    now = "text" if isinstance(step, Say) else "thinking"
                    if now != kind:
                        close()
                        index, kind, whole = index + 1, now, ""
                        event({"type": "content_block_start", "index": index, "content_block": {"type": now}})
                    whole += text
                    said += text if now == "text" else ""
                    event({"type": "content_block_delta", "index": index, "delta": {"type": f"{now}_delta", now: text}})
                case Call(name=name, arguments=arguments):
                    close()
                    index, kind, whole = index + 1, "", ""
                    use = {"type": "tool_use", "id": f"toolu_{self.requests}_{number}", "name": name}
                    use["input"] = json.loads(arguments or "{}")
                    event({"type": "content_block_start", "index": index, "content_block": use | {"input": {}}})
                    self.assistant([use], message_id=message_id)
                    event({"type": "content_block_stop", "index": index})
                    blocks.append(use)
                case Fail(message=message):
                    return await self.again(message, index, said), blocks
                case Pause(seconds=seconds):
                    await (asyncio.Event().wait() if seconds is None else asyncio.sleep(seconds))
                case Until():
                    await step.passed()
                case Cut():
                    os._exit(1)
                case HostDoes(what="rubbish"):
                    await self.do("rubbish", "")
        close()
        event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}})
        event({"type": "message_stop"})
        return said, blocks

    async def again(self, message: str, index: int, said: str) -> str:
        """The stream broke: the answer is asked for again and comes in one piece, under another message."""
        if self.new:
            event({"type": "content_block_stop", "index": index})
            event({"type": "message_stop"}, abandoned_blocks={"api_message_id": "m", "from_block_index": index})
        whole = message or said
        self.assistant([{"type": "text", "text": whole}], message_id=f"again_{self.requests}")
        return whole

    async def call(self, use: dict[str, Any]) -> str:
        """One tool call: the hook, the permission, the result."""
        name, given = use["name"], use["input"]
        await self.hook(use["id"], name, given)
        if name.startswith("mcp__milk__"):
            result, failed = await self.milk(use)
        else:
            request = {"subtype": "can_use_tool", "tool_name": name, "input": given, "tool_use_id": use["id"]}
            verdict = await self.ask(request)
            record(self.args.home, {"verdicts": [verdict]})
            result, failed = _done(verdict, given)
        self.tool_result(use["id"], result, failed=failed)
        return result

    async def milk(self, use: dict[str, Any]) -> tuple[str, bool]:
        params = {"name": use["name"].removeprefix("mcp__milk__"), "arguments": use["input"]}
        answer = await self.rpc("tools/call", {**params, "_meta": {"claudecode/toolUseId": use["id"]}})
        if "error" in answer:
            return answer["error"]["message"], True
        return answer["result"]["content"][0]["text"], bool(answer["result"].get("isError"))

    async def hook(self, call_id: str, name: str, given: dict[str, Any], *, inside: bool = False) -> None:
        if not self.hooks:
            return
        told = {"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": given, "tool_use_id": call_id}
        told |= {"agent_id": "a1"} if inside else {}
        request = {"subtype": "hook_callback", "callback_id": "pre-tool", "input": told, "tool_use_id": call_id}
        record(self.args.home, {"hook": await self.ask(request), "inside": inside})

    def init(self) -> None:
        version = "2.1.332" if self.new else self.args.fake_version
        system("init", session_id=self.id, model=self.args.model or "claude-fake-5", claude_code_version=version)

    def assistant(self, content: list[Any], *, message_id: str = "", parent: str | None = None) -> None:
        message = {"id": message_id or f"whole_{uuid.uuid4()}", "model": "claude-fake-5", "content": content}
        say({"type": "assistant", "message": message, "parent_tool_use_id": parent})

    def tool_result(self, call_id: str, content: str, *, failed: bool, parent: str | None = None) -> None:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": failed}
        say({"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": parent})

    def fail(self, status: int | None, words: str) -> None:
        message = {"id": "s", "model": "<synthetic>", "content": [{"type": "text", "text": words}]}
        say({"type": "assistant", "message": message, "parent_tool_use_id": None})
        self.result(result=words, is_error=True, api_error_status=status)

    def result(self, **fields: Any) -> None:
        self.total += COST * self.requests
        self.requests = 0
        self.kept |= {"cost": self.total, "static": self.kept.get("static", "")}
        self.file.write_text(json.dumps(self.kept))
        usage = {
            "input_tokens": 10,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 5,
            "output_tokens": 7,
        }
        told = {"subtype": "success", "is_error": False, "usage": usage, "total_cost_usd": self.total, **fields}
        say(
            {"duration_api_ms": 1, **told, "type": "result", "session_id": self.id}
            if self.new
            else {"type": "result", **told}
        )


def _done(verdict: dict[str, Any], given: dict[str, Any]) -> tuple[str, bool]:
    """What a tool does with an answer; one of the wrong shape fails, as with the real program."""
    if verdict.get("behavior") == "allow" and isinstance(verdict.get("updatedInput"), dict):
        done = verdict["updatedInput"] or given
        return (f"answered: {done['answers']}" if "answers" in done else f"ran {done.get('command', 'it')}"), False
    if verdict.get("behavior") == "deny" and verdict.get("message"):
        return verdict["message"], True
    return f"invalid permission answer: {json.dumps(verdict)}", True


def say(message: dict[str, Any]) -> None:
    text = json.dumps(message, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        text = json.dumps(message)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def system(subtype: str, **fields: Any) -> None:
    say({"type": "system", "subtype": subtype, **fields})


def event(raw: dict[str, Any], **beside: Any) -> None:
    say({"type": "stream_event", "event": raw, "parent_tool_use_id": None, **beside})


def record(home: str, entry: dict[str, Any]) -> None:
    with Path(home, "record.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def main(kind: type[Fake] = Fake) -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--fake", default="new", choices=["old", "new"])
    parser.add_argument("--fake-version", default="2.1.197")
    parser.add_argument("--home", required=True)
    parser.add_argument("--start", default="", help="exit · hang · rubbish, instead of starting")
    for flag in ("session-id", "resume", "model", "append-system-prompt-file", "mcp-config"):
        parser.add_argument(f"--{flag}", default="")
    args, rest = parser.parse_known_args()
    record(args.home, {"start": sys.argv[1:], "env": sorted(os.environ), "cwd": str(Path.cwd()), "pid": os.getpid()})
    wanted = {"-p", "--verbose", "--include-partial-messages", "--permission-prompt-tool", "stdio", "stream-json"}
    if not wanted <= set(rest):
        sys.stderr.write(f"missing: {sorted(wanted - set(rest))}\n")
        return 1
    match args.start:
        case "exit":
            sys.stderr.write("error: unknown option '--include-partial-messages'\n")
            return 1
        case "hang":
            time.sleep(3600)
        case "rubbish":
            sys.stdout.write("Welcome!\n" * 10)
            return 0
    if args.resume and not (Path(args.home) / f"{args.resume}.json").exists():
        sys.stderr.write(f"No conversation found with session ID: {args.resume}\n")
        return 1
    return asyncio.run(kind(args).run())


if __name__ == "__main__":
    sys.exit(main())
