"""``perception.md`` and the database: written, read, merged key by key, mirrored live."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.core.records import Layer
from milk_tui.engine import events as e
from milk_tui.engine.perception_mirror import Mirror
from milk_tui.engine.workspace import Launch, Workspace
from tests.engine.conftest import Stage, begin
from tests.engine.test_perception_leg import held, writes
from tests.support.polling import until

POINTS = (Path(__file__).parent.parent / "data" / "perception" / "points.md").read_text()


def file_of(stage: Stage) -> Path:
    return Path(stage.conductor.session.directory) / "perception.md"


@pytest.fixture
def desk(stage: Stage):
    return stage.conductor.perception


async def test_a_file_alone_fills_a_new_database(stage, desk):
    file_of(stage).write_text(POINTS)
    await desk.read_file()
    assert (await held(stage, Layer.INVARIANT))["test-runner"] == "bun test (`just test`)"
    assert (await held(stage, Layer.FRAME))["slice"] == "023-points-on-lesson-completion"
    assert (await held(stage, Layer.WORKING))["file"] == "src/services/points.ts"
    view = await desk.layers()
    assert {each.entry.writer for layer in view.layers for each in layer.entries} == {"file"}
    assert view.disputes == ()


async def test_writing_changes_only_the_lines_of_what_changed(stage, desk):
    file_of(stage).write_text(POINTS.replace("story:", "<!-- ask -->\nstory:"))
    await desk.read_file()
    await desk.edit(Layer.WORKING, "file", "src/other.ts")
    await desk.write_file()
    before, after = POINTS.splitlines(), file_of(stage).read_text().splitlines()
    assert [line for line in after if line not in before] == ["<!-- ask -->", "file: src/other.ts"]


async def test_key_by_key_the_file_wins_and_ours_is_kept_where_both_changed(stage, desk):
    await desk.edit(Layer.FRAME, "story", "points")
    await desk.edit(Layer.FRAME, "open", "which bonus?")
    await desk.edit(Layer.FRAME, "constraints", "none")
    await desk.write_file()
    text = file_of(stage).read_text()
    file_of(stage).write_text(
        text.replace("story: points", "story: theirs")
        .replace("open: which bonus?", "open: theirs")
        .replace("constraints: none\n", "")
    )
    await desk.edit(Layer.FRAME, "story", "ours")
    await desk.edit(Layer.WORKING, "file", "a.py")
    taken = await desk.read_file()
    assert await held(stage, Layer.FRAME) == {"story": "theirs", "open": "theirs"}
    assert await held(stage, Layer.WORKING) == {"file": "a.py"}
    assert [(entry.key, entry.value) for entry in taken.disputes] == [("story", "ours")]
    await desk.swap(Layer.FRAME, "story")
    assert (await held(stage, Layer.FRAME))["story"] == "ours"


async def test_another_slice_in_the_file_opens_it(stage, desk):
    await desk.edit(Layer.FRAME, "slice", "one")
    await desk.edit(Layer.FRAME, "story", "of one")
    await desk.edit(Layer.WORKING, "file", "one.py")
    await desk.write_file()
    text = file_of(stage).read_text()
    file_of(stage).write_text(text.replace("slice: one", "slice: two").replace("of one", "of two"))
    await desk.read_file()
    assert await held(stage, Layer.FRAME) == {"slice": "two", "story": "of two"}
    assert await held(stage, Layer.WORKING) == {}
    await desk.open_slice("one")
    assert await held(stage, Layer.FRAME) == {"slice": "one", "story": "of one"}


async def test_a_frame_that_was_left_is_corrected_under_its_own_slice(stage, desk):
    await desk.edit(Layer.FRAME, "slice", "one")
    await desk.edit(Layer.FRAME, "story", "of one")
    await desk.write_file()
    await desk.open_slice("two")
    file_of(stage).write_text(file_of(stage).read_text().replace("of one", "corrected"))
    await desk.read_file()
    assert await held(stage, Layer.FRAME) == {"slice": "two"}
    await desk.open_slice("one")
    assert (await held(stage, Layer.FRAME))["story"] == "corrected"


async def test_secrets_in_the_file_are_not_taken_over(stage, desk):
    file_of(stage).write_text("## Invariants\n- token: sk-ant-api03-" + "a1B2" * 12 + "\n- stack: go\n")
    taken = await desk.read_file()
    assert taken.refused == ("token",)
    assert await held(stage, Layer.INVARIANT) == {"stack": "go"}


async def test_what_can_not_be_read_is_said(stage, desk):
    with pytest.raises(MilkError, match="perception"):
        await desk.read_file()
    file_of(stage).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MilkError, match="UTF-8"):
        await desk.read_file()


async def test_git_is_told_to_leave_the_file_alone(stage, desk):
    directory = Path(stage.conductor.session.directory)
    with pytest.raises(MilkError, match="no git repository"):
        await desk.ignore_file()
    if shutil.which("git") is None:
        pytest.skip("needs git")
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", directory], check=True)
    await desk.ignore_file()
    asked = await asyncio.to_thread(
        subprocess.run, ["git", "check-ignore", "-q", "perception.md"], cwd=directory, check=False
    )
    assert asked.returncode == 0


@pytest.fixture
async def mirrored(launch, home):
    """A workspace with the file switched on."""
    stage = await begin(with_file(launch, home), home)
    mirror = stage.conductor.perception.mirror
    assert isinstance(mirror, Mirror)
    await mirror.watching()
    yield stage
    await stage.workspace.aclose()


def with_file(launch: Launch, home: Path) -> Launch:
    config = home / "config.toml"
    config.write_text("[perception]\nfile = true\n")
    config.chmod(0o600)
    return replace(launch, config_path=config)


async def test_the_mirror_is_off_by_default(stage, desk):
    await desk.edit(Layer.WORKING, "file", "a.py")
    assert desk.mirror is None
    assert not file_of(stage).exists()


async def test_what_changes_here_is_written_and_what_is_changed_there_is_taken_over(mirrored):
    stage = mirrored
    await stage.say(writes("frame", "story: points", "decided: integer [reason: legal]"))
    await until(lambda: "story: points" in file_of(stage).read_text(), what="the frame in the file")
    text = file_of(stage).read_text()
    file_of(stage).write_text(text.replace("story: points", "story: points for lessons"))
    await stage.seen(e.PerceptionChanged, lambda event: any(x.value == "points for lessons" for x in event.entries))
    assert (await held(stage, Layer.FRAME))["decided"] == "integer"
    await stage.say("SCN:say ok")
    assert "story: points for lessons" in stage.record.read_text()


async def test_a_conflict_in_the_mirrored_file_is_told(mirrored):
    stage = mirrored
    await stage.conductor.perception.edit(Layer.FRAME, "story", "points")
    await until(lambda: "story: points" in file_of(stage).read_text(), what="the story in the file")
    mirror = stage.conductor.perception.mirror
    file_of(stage).write_text(file_of(stage).read_text().replace("story: points", "story: theirs"))
    await stage.conductor.store.write(
        lambda db: db.execute("update perception_entries set value = 'ours' where key = 'story'")
    )
    await mirror.take()
    await stage.seen(e.Notice, lambda event: "changed on both sides: story" in event.text)
    assert [each.entry.value for each in (await stage.conductor.perception.layers()).disputes] == ["ours"]


async def test_a_deleted_file_takes_nothing_away_and_is_written_again_with_the_next_change(mirrored):
    stage = mirrored
    await stage.conductor.perception.edit(Layer.WORKING, "file", "a.py")
    await until(lambda: "file: a.py" in file_of(stage).read_text(), what="the working set in the file")
    file_of(stage).unlink()
    await stage.conductor.perception.edit(Layer.WORKING, "next", "go on")
    await until(lambda: file_of(stage).exists() and "next: go on" in file_of(stage).read_text(), what="the file again")
    assert await held(stage, Layer.WORKING) == {"file": "a.py", "next": "go on"}


async def test_git_users_are_offered_to_have_the_file_ignored(launch, home):
    (Path(launch.directory) / ".git" / "info").mkdir(parents=True)
    workspace = Workspace.open(with_file(launch, home))
    conductor = await workspace.open_session()
    said = await conductor.perception.file_notice()
    assert "/perception ignore" in said
    await conductor.perception.ignore_file()
    assert await conductor.perception.file_notice() == ""
    await workspace.aclose()
