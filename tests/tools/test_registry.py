"""What every call goes through: misbehaving calls and tools become answers that the model can correct."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.config import ToolsConfig
from milk_tui.core.errors import StoreError
from milk_tui.core.permissions import Verdict
from milk_tui.core.records import Role
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools import registry
from milk_tui.tools.base import Access, Arguments, Call, Prepared, Refused, Tool, cut, tool
from milk_tui.tools.registry import FAMILIES, Caller, Toolset, assemble
from milk_tui.tools.site import Limits, Site
from tests.support.polling import until
from tests.tools.conftest import Bench


class Nothing(Arguments, frozen=True, kw_only=True):
    word: str = ""


def made(name: str, run, *, access: Access = Access.READ, timeout_s: float | None = None) -> Tool:
    async def prepare(site: Site, said: Nothing) -> Prepared:
        return Prepared(run)

    return tool(name, "For a test.", Nothing, prepare, family="files", access=access, timeout_s=timeout_s)


def toolset(directory: Path, *tools: Tool) -> Toolset:
    async def ask(request) -> Verdict:
        return Verdict(allowed=True)

    return Toolset(tools, Site(directory, limits=Limits(tool_s=5)), Caller(Role.PRIMARY, "qwen"), ask)


def test_every_family_of_the_config_has_tools_but_the_peers() -> None:
    assert ToolsConfig().families == FAMILIES
    assert {each.family for each in registry.BUILT_IN} == set(FAMILIES) - {"agents"}
    assert assemble(()) == ()
    assert [each.spec.name for each in assemble(("shell",))] == ["run_command"]


def test_every_tool_says_what_it_takes_and_reads_free_tools_only_inside() -> None:
    for each in registry.BUILT_IN:
        assert each.spec.description
        assert set(each.spec.parameters["required"]) <= set(each.spec.parameters["properties"])
        assert "$ref" not in json.dumps(each.spec.parameters)
    access = {each.spec.name: each.access for each in registry.BUILT_IN}
    assert access["run_command"] is Access.RUN
    assert access["http_get"] is Access.NETWORK
    assert {name for name, kind in access.items() if kind is Access.WRITE} == {
        "write_file",
        "edit_file",
        "move_file",
        "delete_file",
        "export_session",
    }


def test_what_a_model_is_told_never_changes() -> None:
    assert [each.spec for each in assemble(FAMILIES)] == [each.spec for each in assemble(FAMILIES)]
    assert len(json.dumps([each.spec.parameters for each in registry.BUILT_IN])) < 6_000


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nope", "{}", "There is no tool “nope”. Tools: read_file"),
        ("no\x1b[2Jpe", "{}", "There is no tool “nope”"),
        ("read_file", "{", "no JSON object"),
        ("read_file", "[]", "Wrong arguments"),
        ("read_file", "null", "Wrong arguments"),
        ("read_file", "{}", "required field `path`. It takes: path, [offset], [limit]"),
        ("read_file", '{"path": 1}', "Expected `str`"),
        ("read_file", '{"path": "a", "offset": 0}', "`int` >= 1"),
        ("read_file", '{"path": "a", "lines": 3}', "unknown field `lines`"),
        ("run_command", '{"command": "true", "timeout_s": "soon"}', "timeout_s"),
        ("read_file", '{"path":' * 100_000, "JSON"),
    ],
)
async def test_a_call_that_is_wrong_says_what_is_wrong(bench: Bench, name: str, arguments: str, said: str) -> None:
    outcome = await bench.tools.run("1", name, arguments)
    assert not outcome.ok
    assert said in outcome.content
    assert bench.asked == []


@given(st.text(max_size=200), st.sampled_from([each.spec.name for each in registry.BUILT_IN]))
def test_no_text_as_arguments_raises(text: str, name: str) -> None:
    async def go() -> ToolOutcome:
        async def deny(request) -> Verdict:
            return Verdict(allowed=False)

        tools = Toolset(assemble(FAMILIES), Site(Path("/nowhere/at/all")), Caller(Role.PRIMARY, "qwen"), deny)
        return await tools.run("1", name, text)

    assert not asyncio.run(go()).ok


async def _raises(error: BaseException) -> ToolOutcome:
    raise error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Refused("not like this"), "not like this"),
        (StoreError("The disk is full.", "Make room."), "The disk is full. Make room."),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (ValueError("x\x1b[2J"), "ValueError: x."),
    ],
)
async def test_a_tool_that_fails_is_an_answer(tmp_path: Path, error: Exception, said: str) -> None:
    outcome = await toolset(tmp_path, made("bad", lambda call: _raises(error))).run("1", "bad", "{}")
    assert not outcome.ok
    assert said in outcome.content


async def test_a_tool_that_hangs_is_stopped_and_one_that_floods_is_cut(tmp_path: Path) -> None:
    async def hang(call: Call) -> ToolOutcome:
        await asyncio.Event().wait()
        return ToolOutcome("")

    async def flood(call: Call) -> ToolOutcome:
        return ToolOutcome("x" * 1_000_000)

    tools = toolset(tmp_path, made("hang", hang, timeout_s=0.1), made("flood", flood))
    assert "took longer than 0.1 s" in (await tools.run("1", "hang", "{}")).content
    assert len((await tools.run("2", "flood", "{}")).content) < 41_000


async def test_fifty_calls_at_once_are_done_a_few_at_a_time(tmp_path: Path) -> None:
    running = most = 0

    async def work(call: Call) -> ToolOutcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.002)
        running -= 1
        return ToolOutcome(call.id)

    tools = toolset(tmp_path, made("work", work))
    outcomes = await asyncio.gather(*(tools.run(str(n), "work", "{}") for n in range(50)))
    assert [outcome.content for outcome in outcomes] == [str(n) for n in range(50)]
    assert 1 < most <= registry.AT_ONCE


async def test_a_change_waits_for_what_was_called_before_it_and_what_comes_after_waits_for_it(tmp_path: Path) -> None:
    order: list[str] = []
    gate = asyncio.Event()

    async def look(call: Call) -> ToolOutcome:
        order.append(f"look {call.id}")
        if call.id == "1":
            await gate.wait()
        return ToolOutcome("")

    async def change(call: Call) -> ToolOutcome:
        order.append(f"change {call.id}")
        return ToolOutcome("")

    tools = toolset(tmp_path, made("look", look), made("change", change, access=Access.WRITE))
    calls = [
        asyncio.create_task(tools.run(str(number), name, "{}"))
        for number, name in enumerate(("look", "look", "change", "look", "change"), 1)
    ]
    await until(lambda: len(order) == 2)
    assert order == ["look 1", "look 2"]
    gate.set()
    await asyncio.gather(*calls)
    assert order == ["look 1", "look 2", "change 3", "look 4", "change 5"]


async def test_a_change_that_is_cancelled_while_it_waits_lets_the_next_ones_on_in_order(tmp_path: Path) -> None:
    order: list[str] = []
    gate = asyncio.Event()

    async def work(call: Call) -> ToolOutcome:
        order.append(call.id)
        if call.id == "1":
            await gate.wait()
        return ToolOutcome("")

    tools = toolset(tmp_path, made("change", work, access=Access.WRITE))
    first, second, third = (asyncio.create_task(tools.run(str(n), "change", "{}")) for n in (1, 2, 3))
    await until(lambda: order == ["1"])
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert order == ["1"]
    gate.set()
    await asyncio.gather(first, third)
    assert order == ["1", "3"]


async def test_the_request_is_bound_to_the_call(bench: Bench) -> None:
    await bench.tools.run("call-7", "write_file", '{"path": "a", "content": "x"}')
    (asked,) = bench.asked
    assert (asked.call_id, asked.agent_name, asked.tool) == ("call-7", "qwen", "write_file")
    assert json.loads(asked.arguments) == {"path": "a", "content": "x"}


async def test_numbers_in_quotes_are_numbers(bench: Bench) -> None:
    bench.write("a", "1\n2\n3\n")
    assert (await bench("read_file", path="a", offset="2", limit="1")).content.endswith("\n2")


@given(st.text(max_size=3_000), st.integers(200, 1_000))
def test_a_cut_text_keeps_within_its_bound(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit


async def test_what_was_read_outside_of_the_directory_makes_what_follows_foreign(bench: Bench, outside: Path) -> None:
    bench.write("a.txt", "ours\n")
    await bench("read_file", path="a.txt")
    await bench("list_dir", path=".")
    assert not bench.tools.foreign
    bench.deny()
    await bench("read_file", path=str(outside / "secret.txt"))
    assert not bench.tools.foreign, "nothing was read"
    bench.verdict = Verdict(allowed=True)
    await bench("read_file", path=str(outside / "secret.txt"))
    assert bench.tools.foreign


async def test_what_came_from_the_web_makes_what_follows_foreign(tmp_path: Path) -> None:
    async def run(call: Call) -> ToolOutcome:
        return ToolOutcome("a page")

    tools = toolset(tmp_path, made("get", run, access=Access.NETWORK), made("look", run))
    await tools.run("1", "look", "{}")
    assert not tools.foreign
    await tools.run("2", "get", "{}")
    assert tools.foreign
