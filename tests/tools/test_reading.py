"""Reading and listing: free inside the directory, asked outside, refused for what is no file."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from milk_tui.core.permissions import Scope
from milk_tui.tools.base import OUTPUT_CHARS
from tests.tools.conftest import Bench


async def test_a_file_is_read_as_it_is_and_nobody_is_asked(bench: Bench) -> None:
    bench.write("a/shop.py", "def total():\n\treturn 1\n")
    outcome = await bench("read_file", path="a/shop.py")
    assert outcome.content == "[a/shop.py, 2 lines]\ndef total():\n\treturn 1"
    assert bench.asked == []


async def test_some_lines_are_read_and_the_rest_is_named(bench: Bench) -> None:
    bench.write("long.txt", "".join(f"line {n}\n" for n in range(1, 101)))
    outcome = await bench("read_file", path="long.txt", offset="10", limit=2)
    assert outcome.content == "[long.txt, 100 lines, here 10–11; go on with offset 12]\nline 10\nline 11"
    await bench.refuses("read_file", "there is no line 500", path="long.txt", offset=500)


@pytest.mark.parametrize(
    ("data", "text", "said"),
    [
        ("grün\n".encode(), "grün", "1 line]"),
        ("grün\n".encode("utf-8-sig"), "grün", "1 line]"),
        ("grün\n".encode("utf-16"), "grün", "read as utf-16"),
        ("grün\n".encode("cp1252"), "grün", "read as cp1252"),
        (b"a\r\nb\r\n", "a\nb", "2 lines]"),
        (b"", "is empty", ""),
    ],
)
async def test_encodings_are_understood(bench: Bench, data: bytes, text: str, said: str) -> None:
    bench.write("text.txt", data)
    outcome = await bench("read_file", path="text.txt")
    assert outcome.ok
    assert text in outcome.content
    assert said in outcome.content


@pytest.mark.parametrize(
    ("data", "kind"), [(b"\x89PNG\r\n\x1a\n", "PNG"), (b"abc\0def", "binary"), (b"PK\x03\x04", "ZIP")]
)
async def test_what_is_no_text_is_named_instead_of_shown(bench: Bench, data: bytes, kind: str) -> None:
    bench.write("data", data)
    await bench.refuses("read_file", kind, "no text", path="data")


async def test_a_huge_file_is_read_in_part(bench: Bench) -> None:
    bench.write("huge.log", b"x" * 999 + b"\n" + (b"y" * 999 + b"\n") * 16_500)
    outcome = await bench("read_file", path="huge.log", offset=16_400, limit=1)
    assert (
        outcome.content
        == "[huge.log, its first 16,501 lines, here 16,400–16,400; go on with offset 16401]\n" + "y" * 999
    )


async def test_what_a_model_is_given_is_bounded(bench: Bench) -> None:
    bench.write("wide.txt", "y" * 1_000_000 + "\n" + "z\n" * 100_000)
    outcome = await bench("read_file", path="wide.txt")
    assert len(outcome.content) < OUTPUT_CHARS + 500
    assert "998,000 more" in outcome.content


async def test_outside_the_directory_the_person_is_asked(bench: Bench, outside: Path) -> None:
    path = str(outside / "secret.txt")
    assert (await bench("read_file", path="../elsewhere/secret.txt")).ok
    (asked,) = bench.asked
    assert path in asked.title
    assert "outside the working directory" in asked.title
    assert (asked.pattern, asked.scopes) == (f"{outside}/*", tuple(Scope))
    bench.deny("not yours")
    await bench.refuses("read_file", "denied", "not yours", path=path)
    await bench.refuses("list_dir", "denied", path=str(outside))
    await bench.refuses("grep", "denied", pattern="secret", path=str(outside))
    await bench.refuses("find_files", "denied", pattern="secret", path=str(outside))


async def test_a_link_that_leaves_the_directory_is_where_it_leads(bench: Bench, outside: Path) -> None:
    (bench.directory / "link.txt").symlink_to(outside / "secret.txt")
    (bench.directory / "folder").symlink_to(outside)
    bench.deny()
    for path in ("link.txt", "folder/secret.txt", "folder/../elsewhere/secret.txt"):
        await bench.refuses("read_file", "denied", path=path)
    assert {asked.title.split()[1] for asked in bench.asked} == {f"{outside}/secret.txt,"}


async def test_a_link_inside_the_directory_is_free(bench: Bench) -> None:
    bench.write("real.txt", "here\n")
    (bench.directory / "link.txt").symlink_to("real.txt")
    assert "here" in (await bench("read_file", path="link.txt")).content
    assert bench.asked == []


async def test_a_link_that_takes_a_files_place_after_the_question_leads_nowhere(bench: Bench, outside: Path) -> None:
    from milk_tui.core.permissions import PermissionRequest, Verdict

    target = outside / "notes.txt"
    target.write_text("notes\n")

    def swap(request: PermissionRequest) -> Verdict:
        target.unlink()
        target.symlink_to(outside / "secret.txt")
        return Verdict(allowed=True)

    bench.verdict = swap
    await bench.refuses("read_file", "is a link now", path=str(target))


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/self/mem", "/sys/kernel"])
async def test_devices_and_the_kernels_files_are_refused_without_asking(bench: Bench, path: str) -> None:
    await bench.refuses("read_file", "no ordinary file", path=path)
    (bench.directory / "link").symlink_to(path)
    await bench.refuses("read_file", "no ordinary file", path="link")
    assert bench.asked == []


async def test_pipes_and_sockets_are_refused_at_once(bench: Bench) -> None:
    os.mkfifo(bench.directory / "pipe")
    await bench.refuses("read_file", "a pipe", path="pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(bench.directory)
        server.bind("socket")
        os.chdir(here)
        await bench.refuses("read_file", "socket", path="socket")
    assert "pipe  (a pipe)" in (await bench("list_dir")).content


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "x" * 5_000, "missing.txt", "missing/folder/x"])
async def test_what_is_not_there_is_said(bench: Bench, path: str) -> None:
    await bench.refuses("read_file", path=path)


async def test_a_folder_is_pointed_to_the_right_tool(bench: Bench) -> None:
    await bench.refuses("read_file", "list_dir", path=".")


async def test_a_directory_that_is_gone_is_said(bench: Bench) -> None:
    shutil.rmtree(bench.directory)
    for name, arguments in (("read_file", {"path": "a"}), ("list_dir", {}), ("run_command", {"command": "true"})):
        await bench.refuses(name, "is gone", **arguments)


async def test_milks_own_files_are_never_opened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "milk.db").write_text("data")
    bench = Bench(tmp_path, private=(home,))
    await bench.refuses("read_file", "belongs to milk itself", path="home/milk.db")
    assert "milk.db" not in (await bench("find_files", pattern="milk")).content
    assert bench.asked == []


async def test_a_folder_is_listed_with_sizes_links_and_depth(bench: Bench) -> None:
    bench.write("b.txt", "12345")
    bench.write("src/deep/c.py", "")
    bench.write(".git/config", "")
    (bench.directory / "to").symlink_to("b.txt")
    assert (await bench("list_dir")).content.split("\n") == [".git/", "src/", "b.txt  5", "to → b.txt"]
    deep = (await bench("list_dir", depth=3)).content
    assert "src/\n  deep/\n    c.py  0" in deep
    assert "config" not in deep


async def test_a_full_folder_is_cut(bench: Bench) -> None:
    for number in range(600):
        bench.write(f"f{number:03}", "")
    assert (await bench("list_dir")).content.endswith("[100 more entries left out]")


async def test_names_that_no_terminal_should_see_are_listed_harmlessly(bench: Bench) -> None:
    (bench.directory / os.fsdecode(b"bad\xff.txt")).write_text("")
    assert "bad\ufffd.txt" in (await bench("list_dir")).content
