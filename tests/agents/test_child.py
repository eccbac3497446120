from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from milk_tui.agents.child import ChildError, JsonChild, environment, lines
from milk_tui.paths import INSIDE_VARIABLE
from tests.support.polling import until

ROOT = Path(__file__).resolve().parents[2]
ECHO = 'import sys\nfor line in sys.stdin: print(line, end="", flush=True)'
GRANDCHILD = """
import os, subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
print('{"inner": %d, "own": %d}' % (inner.pid, os.getpid()), flush=True)
time.sleep(600)
"""
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + GRANDCHILD
SCREEN = """
import asyncio, os, sys
from milk_tui.agents.child import JsonChild
async def main():
    child = JsonChild([sys.executable, "-S", "-c", sys.argv[1]], env=dict(os.environ), cwd=".")
    await child.start()
    async for message in child.messages():
        print(message["inner"], message["own"], child.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def child_of(code: str, cwd: Path) -> JsonChild:
    return JsonChild([sys.executable, "-S", "-c", code], env=dict(os.environ), cwd=str(cwd), term_s=0.5)


def alive(pid: int) -> bool:
    """Whether the process runs; one that waits to be collected has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return not Path("/proc/self").exists()
    return False


async def first(child: JsonChild) -> dict:
    async for message in child.messages():
        return message
    raise AssertionError("nothing came")


async def test_what_is_sent_comes_as_one_line_and_back(tmp_path: Path) -> None:
    child = child_of(ECHO, tmp_path)
    await child.start()
    await child.send({"text": "one\ntwo \x1b[31m", "n": 1})
    assert await first(child) == {"text": "one\ntwo \x1b[31m", "n": 1}
    await child.aclose()
    assert child.status == 0


async def test_a_line_of_a_megabyte_is_read_and_rubbish_is_skipped_and_counted(tmp_path: Path) -> None:
    code = 'print("what?"); print("[1]"); print("{\\"a\\": \\"" + "x" * (1 << 20) + "\\"}"); print("\\xff{")'
    child = child_of(code, tmp_path)
    await child.start()
    got = [message async for message in child.messages()]
    assert [len(message["a"]) for message in got] == [1 << 20]
    assert child.rubbish == 3
    await child.aclose()


async def test_a_line_over_the_bound_is_skipped_without_being_kept() -> None:
    stream = asyncio.StreamReader()
    stream.feed_data(b"a\n" + b"x" * 300_000 + b"\nb\nlast")
    stream.feed_eof()
    assert [line async for line in lines(stream, most=100_000)] == [b"a", b"?", b"b", b"last"]


async def test_its_exit_status_and_its_last_words_are_told(tmp_path: Path) -> None:
    child = child_of('import sys; print("no \x1b[31mkey", file=sys.stderr); sys.exit(3)', tmp_path)
    await child.start()
    assert [message async for message in child.messages()] == []
    assert await child.finished() == 3
    assert "status 3" in child.ending() and "no key" in child.ending() and "\x1b" not in child.ending()
    with pytest.raises(ChildError):
        await child.send({})
    await child.aclose()


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    child = JsonChild(["no-such-agent"], env={"PATH": str(tmp_path)}, cwd=str(tmp_path))
    with pytest.raises(ChildError, match="no-such-agent"):
        await child.start()
    gone = JsonChild([sys.executable], env=dict(os.environ), cwd=str(tmp_path / "gone"))
    with pytest.raises(ChildError, match="folder"):
        await gone.start()


@pytest.mark.parametrize("code", [GRANDCHILD, DEAF], ids=["leaves", "ignores SIGTERM"])
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans can be adopted on Linux alone")
async def test_nothing_is_left_behind_when_it_is_closed(code: str, tmp_path: Path) -> None:
    child = child_of(code, tmp_path)
    await child.start()
    told = await first(child)
    await child.aclose(grace_s=0)
    assert not alive(told["own"]) and not alive(told["inner"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans can be adopted on Linux alone")
@pytest.mark.parametrize("victim", ["screen", "agent", "keeper"])
async def test_nothing_is_left_behind_after_kill_9(victim: str, tmp_path: Path) -> None:
    screen = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SCREEN, GRANDCHILD),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert screen.stdout is not None
    inner, agent, keeper = map(int, (await screen.stdout.readline()).split())
    os.kill({"screen": screen.pid, "agent": agent, "keeper": keeper}[victim], signal.SIGKILL)
    try:
        await until(lambda: not alive(agent), what="the agent is gone")
        if victim != "keeper":
            await until(lambda: not alive(inner), what="what it started is gone")
            await until(lambda: not alive(keeper), what="the keeper is gone")
    finally:
        with suppress(ProcessLookupError):
            os.kill(inner, signal.SIGKILL)
        if screen.returncode is None:
            screen.kill()
        await screen.wait()


def test_the_environment_is_the_persons_without_what_misleads_an_agent() -> None:
    given = {"PATH": "/bin", "CLAUDECODE": "1", "IS_SANDBOX": "yes", "MILK_TUI_HOME": "/m", "ANTHROPIC_API_KEY": "k"}
    own = {INSIDE_VARIABLE: "1"}
    assert environment(given, {"EXTRA": "1"}) == {"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "EXTRA": "1", **own}
