"""``/fresh`` and the perception's file at the keyboard."""

from __future__ import annotations

import json
from pathlib import Path

WRITE = "SCN:tool update_perception {} SCN:then SCN:say noted"


def writes(layer: str, entries: str) -> str:
    return WRITE.format(json.dumps({"layer": layer, "entries": entries}))


def believed(desk) -> set[str]:
    return {entry.value for entry in desk.app.state.perception.values()}


async def test_a_fresh_session_begins_with_the_perception_alone(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(writes("frame", "slice: 023\nstory: points for lessons"))
        await desk.until(lambda: believed(desk), "the frame")
        before = desk.app.control.session_id
        await desk.say("/fresh")
        await desk.until(lambda: desk.app.control.session_id not in ("", before), "another session")
        await desk.gone("noted")
        await desk.until(lambda: "points for lessons" in believed(desk), "the frame")


async def test_the_file_is_written_and_read_by_command(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(writes("frame", "story: points"))
        await desk.until(lambda: believed(desk), "the frame")
        file = Path(desk.app.state.directory) / "perception.md"
        await desk.say("/perception write")
        await desk.until(lambda: file.exists() and "story: points" in file.read_text(), "the file")
        file.write_text(file.read_text().replace("story: points", "story: points for lessons"))
        await desk.say("/perception read")
        await desk.until(lambda: "points for lessons" in believed(desk), "the new story")
        await desk.say("/perception nonsense")
        await desk.sees("write, read or ignore")
