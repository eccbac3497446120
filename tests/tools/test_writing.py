"""Changing files: shown as it would be, asked, done exactly so, and put back."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from milk_tui.core.permissions import PermissionRequest, Scope, Verdict
from tests.tools.conftest import Bench


async def test_a_new_file_is_shown_asked_and_written_with_its_folders(bench: Bench) -> None:
    outcome = await bench("write_file", path="src/new/a.py", content="x = 1\n")
    assert outcome.content.startswith("created src/new/a.py: +1 −0\n--- /dev/null\n+++ b/src/new/a.py\n")
    assert bench.read("src/new/a.py") == "x = 1\n"
    (asked,) = bench.asked
    assert (asked.tool, asked.title, asked.language) == ("write_file", "create src/new/a.py (+1 −0)", "diff")
    assert "+x = 1" in asked.body
    assert (asked.pattern, asked.directory) == ("src/new/*", str(bench.directory))


async def test_a_denied_change_touches_nothing(bench: Bench) -> None:
    bench.write("a.py", "old\n")
    await bench("read_file", path="a.py")
    bench.deny("leave it")
    calls = [
        ("write_file", {"path": "a.py", "content": "new\n"}),
        ("edit_file", {"path": "a.py", "old_text": "old", "new_text": "new"}),
        ("move_file", {"path": "a.py", "to": "b.py"}),
        ("delete_file", {"path": "a.py"}),
        ("write_file", {"path": "folder/new.py", "content": ""}),
    ]
    for name, arguments in calls:
        await bench.refuses(name, "denied", "leave it", **arguments)
    assert [path.name for path in bench.directory.iterdir()] == ["a.py"]
    assert bench.read("a.py") == "old\n"


async def test_a_file_that_was_not_read_is_not_overwritten(bench: Bench) -> None:
    bench.write("a.py", "old\n")
    await bench.refuses("write_file", "Read it first", path="a.py", content="new\n")
    await bench("read_file", path="a.py")
    assert (await bench("write_file", path="a.py", content="new\n")).ok
    assert bench.read("a.py") == "new\n"


async def test_an_edit_replaces_exactly_one_place(bench: Bench) -> None:
    bench.write("a.py", "one\ntwo\none\n")
    await bench.refuses("edit_file", "2 times", "set all to true", path="a.py", old_text="one", new_text="1")
    assert (await bench("edit_file", path="a.py", old_text="two\none", new_text="2\n1")).ok
    assert bench.read("a.py") == "one\n2\n1\n"
    assert (await bench("edit_file", path="a.py", old_text="\n", new_text=";\n", all=True)).ok
    assert bench.read("a.py") == "one;\n2;\n1;\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("three", "3", "is not in a.py"),
        ("", "x", "old_text is empty"),
        ("two", "two", "are the same"),
        ("two\n  end", "x", "Its first line is on line 2"),
    ],
)
async def test_an_edit_that_does_not_fit_says_what_to_do(bench: Bench, old: str, new: str, said: str) -> None:
    bench.write("a.py", "one\n  two\nend\n")
    await bench.refuses("edit_file", said, path="a.py", old_text=old, new_text=new)
    assert bench.asked == []


async def test_a_file_that_changed_on_disk_since_it_was_read_is_not_edited(bench: Bench) -> None:
    path = bench.write("a.py", "one\n")
    await bench("read_file", path="a.py")
    path.write_text("one and more\n")
    for name, arguments in (
        ("edit_file", {"old_text": "one", "new_text": "1"}),
        ("write_file", {"content": "x"}),
        ("delete_file", {}),
        ("move_file", {"to": "b.py"}),
    ):
        await bench.refuses(name, "changed on disk since it was read", path="a.py", **arguments)
    assert bench.read("a.py") == "one and more\n"
    assert bench.asked == []
    await bench("read_file", path="a.py")
    assert (await bench("edit_file", path="a.py", old_text="one", new_text="1")).ok


async def test_a_file_that_changes_while_the_person_thinks_is_not_written(bench: Bench) -> None:
    path = bench.write("a.py", "one\n")

    def change(request: PermissionRequest) -> Verdict:
        path.write_text("something else\n")
        return Verdict(allowed=True)

    bench.verdict = change
    await bench.refuses("edit_file", "changed on disk while", path="a.py", old_text="one", new_text="1")
    assert bench.read("a.py") == "something else\n"


async def test_a_link_that_takes_a_folders_place_leads_no_write_away(bench: Bench, outside: Path) -> None:
    (bench.directory / "src").mkdir()

    def swap(request: PermissionRequest) -> Verdict:
        (bench.directory / "src").rmdir()
        (bench.directory / "src").symlink_to(outside)
        return Verdict(allowed=True)

    bench.verdict = swap
    await bench.refuses("write_file", "the way there has changed", path="src/a.py", content="x")
    assert os.listdir(outside) == ["secret.txt"]  # noqa: PTH208


async def test_edits_of_one_answer_follow_each_other(bench: Bench) -> None:
    bench.write("a.py", "0\n")
    calls = [bench("edit_file", path="a.py", old_text=f"{n}\n", new_text=f"{n + 1}\n") for n in range(5)]
    assert all(outcome.ok for outcome in await asyncio.gather(*calls))
    assert bench.read("a.py") == "5\n"


async def test_encoding_line_ends_and_mode_stay(bench: Bench) -> None:
    path = bench.write("a.txt", "grün\r\nrot\r\n".encode("cp1252"))
    path.chmod(0o750)
    assert (await bench("edit_file", path="a.txt", old_text="grün\nrot", new_text="grün\nweiß")).ok
    assert path.read_bytes() == "grün\r\nweiß\r\n".encode("cp1252")
    assert path.stat().st_mode & 0o777 == 0o750
    await bench.refuses("edit_file", "has no '→'", path="a.txt", old_text="grün", new_text="→")


async def test_outside_the_directory_every_write_is_asked_once_alone(bench: Bench, outside: Path) -> None:
    await bench("write_file", path=str(outside / "new.txt"), content="x\n")
    await bench("edit_file", path=str(outside / "secret.txt"), old_text="the", new_text="a")
    await bench("move_file", path=str(outside / "new.txt"), to="here.txt")
    await bench("delete_file", path=str(outside / "secret.txt"))
    assert [asked.scopes for asked in bench.asked] == [(Scope.ONCE,)] * 4
    assert {asked.pattern for asked in bench.asked} == {""}
    assert all("outside the working directory" in asked.title for asked in bench.asked[:2])
    assert bench.read("here.txt") == "x\n"


async def test_a_link_is_written_where_it_leads_and_deleted_itself(bench: Bench, outside: Path) -> None:
    (bench.directory / "link.txt").symlink_to(outside / "secret.txt")
    await bench("edit_file", path="link.txt", old_text="the", new_text="a")
    assert str(outside / "secret.txt") in bench.asked[0].title
    await bench.refuses("delete_file", "is a link", path="link.txt")
    assert (outside / "secret.txt").read_text() == "a secret\n"


async def test_only_ordinary_files_are_changed(bench: Bench) -> None:
    os.mkfifo(bench.directory / "pipe")
    (bench.directory / "folder").mkdir()
    bench.write("data.bin", b"\0\1\2")
    await bench.refuses("write_file", "a pipe", path="pipe", content="x")
    await bench.refuses("write_file", "a folder", path="folder", content="x")
    await bench.refuses("delete_file", "a folder", path="folder")
    await bench.refuses("edit_file", "can't be edited as text", path="data.bin", old_text="a", new_text="b")
    await bench.refuses("move_file", "is there already", path="data.bin", to="folder")
    assert bench.asked == []


async def test_what_is_too_large_to_be_put_back_is_not_changed(bench: Bench) -> None:
    bench.write("large.txt", "x" * 4_000_001)
    await bench.refuses("delete_file", "could not be put back", path="large.txt")
    await bench.refuses("write_file", "at most 4,000,000", path="new.txt", content="x" * 4_000_001)


async def test_a_moved_file_can_be_edited_without_reading_it_again(bench: Bench) -> None:
    bench.write("a.py", "one\n")
    await bench("read_file", path="a.py")
    assert (await bench("move_file", path="a.py", to="lib/b.py")).content == "moved a.py to lib/b.py"
    assert (await bench("edit_file", path="lib/b.py", old_text="one", new_text="1")).ok
    assert not (bench.directory / "a.py").exists()
