"""Files are found by fuzzy words; what Git ignores is not offered (``ux.md``, ``@``)."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from milk_tui.engine.file_index import FileIndex, best, matching, walked, with_folders


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/app.py", "src/api/handler.py", "docs/guide.md", "build/out.o", "a.log", "keep/b.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    (tmp_path / "keep" / ".gitignore").write_text("!b.log\n")
    return tmp_path


def make_work_tree(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


@pytest.mark.parametrize("git", [True, False])
async def test_files_and_folders_are_found_and_ignored_ones_are_not(tree: Path, git: bool):
    if git:
        make_work_tree(tree)
    index = FileIndex(tree)
    found = await index.find("")
    await index.aclose()

    assert {"src/app.py", "src/api/handler.py", "docs/guide.md", "src/", "src/api/"} <= set(found)
    assert not {"a.log", "build/out.o", "build/"} & set(found)


async def test_a_new_file_is_found_when_something_said_that_files_changed(tree: Path):
    index = FileIndex(tree)
    assert await index.find("brandnew") == []
    (tree / "brandnew.py").touch()
    index.changed()
    for _ in range(200):
        if found := await index.find("brandnew"):
            break
    await index.aclose()
    assert found == ["brandnew.py"]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("app", "src/app.py"),
        ("hndl", "src/api/handler.py"),
        ("sapp", "src/app.py"),
        ("GUIDE", "docs/guide.md"),
        ("zzz", None),
        (".*", None),
        ("src/a", "src/api/"),
    ],
)
def test_the_letters_may_be_anywhere_in_order_and_case_is_ignored(words: str, first: str | None):
    paths = with_folders(["src/app.py", "src/api/handler.py", "docs/guide.md"])
    found = best(matching(paths, words), words, 5)

    assert (found[0] if found else None) == first


def test_names_that_begin_with_the_words_come_first_and_short_ones_before_long_ones():
    paths = ["a/very/long/way/to/test_app.py", "app_test.py", "src/app.py", "app"]

    assert best(paths, "app", 4) == ["app", "src/app.py", "app_test.py", "a/very/long/way/to/test_app.py"]


async def test_one_who_types_on_does_not_begin_the_list_again(tree: Path):
    index = FileIndex(tree)
    first = asyncio.create_task(index.find("a"))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)

    assert "src/app.py" in await index.find("app")
    await index.aclose()


def test_names_that_could_not_be_written_are_left_out():
    assert with_folders(["a\nb.py", 'q".py', "ok.py", ""]) == ["ok.py"]


def test_a_hundred_thousand_files_are_searched():
    paths = [f"packages/mod_{i % 300}/src/part_{i % 97}/file_{i}.ts" for i in range(100_000)]
    found = matching(paths, "file_99999")

    assert best(found, "file_99999", 5) == ["packages/mod_99/src/part_89/file_99999.ts"]


def test_a_walk_ends_at_its_bounds(tree: Path):
    assert "src/app.py" in walked(tree)
