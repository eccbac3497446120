"""Finding files and text: what git ignores is left out, what is no text too, and a pattern can't hang the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.tools import searching
from milk_tui.tools.globs import matcher
from tests.tools.conftest import Bench


@pytest.fixture
def tree(bench: Bench) -> Bench:
    bench.write(".gitignore", "*.log\n!keep.log\nbuild/\n/only-here\n")
    bench.write("src/.gitignore", "generated.py\n")
    for name in (
        "src/shop.py",
        "src/generated.py",
        "src/test_shop.py",
        "a.log",
        "keep.log",
        "build/out.py",
        "only-here",
    ):
        bench.write(name, f"total in {name}\n")
    bench.write("src/only-here", "total\n")
    bench.write(".git/total.py", "total\n")
    bench.write("image.png", b"\x89PNG\0total\n")
    return bench


async def test_files_are_found_by_pattern_part_and_path(tree: Bench) -> None:
    assert (await tree("find_files", pattern="*.py")).content.split("\n") == ["src/shop.py", "src/test_shop.py"]
    assert (await tree("find_files", pattern="SHOP")).content.split("\n") == ["src/shop.py", "src/test_shop.py"]
    assert (await tree("find_files", pattern="src/**/test_*.py")).content == "src/test_shop.py"
    assert (await tree("find_files", pattern="*.log")).content == "keep.log"
    assert (await tree("find_files", pattern="only-here")).content == "src/only-here"
    assert "No file fits" in (await tree("find_files", pattern="*.rs")).content
    assert (await tree("find_files", pattern="*.py", limit=1)).content.endswith("[more than 1; narrow the pattern]")


async def test_text_is_found_with_file_and_line(tree: Bench) -> None:
    found = (await tree("grep", pattern=r"total in \w+/shop")).content
    assert found == "src/shop.py:1:total in src/shop.py"
    assert (
        await tree("grep", pattern="TOTAL", glob="*.log", ignore_case=True)
    ).content == "keep.log:1:total in keep.log"
    assert (await tree("grep", pattern="total", path="src/shop.py")).content == "src/shop.py:1:total in src/shop.py"
    assert (await tree("grep", pattern="nowhere")).content == "Nothing found."
    everything = (await tree("grep", pattern="total")).content
    assert {line.partition(":")[0] for line in everything.split("\n")} == {
        "keep.log",
        "src/only-here",
        "src/shop.py",
        "src/test_shop.py",
    }


async def test_ripgrep_finds_the_same(tree: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\necho './src/shop.py:1:total in src/shop.py'\n")
    program.chmod(0o755)
    monkeypatch.setattr(searching.shutil, "which", lambda name: str(program))
    assert (await tree("grep", pattern="total")).content == "src/shop.py:1:total in src/shop.py"


async def test_links_are_not_followed_out_of_the_directory(tree: Bench, outside: Path) -> None:
    (tree.directory / "away").symlink_to(outside)
    (tree.directory / "away.txt").symlink_to(outside / "secret.txt")
    assert (await tree("grep", pattern="the secret")).content == "Nothing found."
    assert tree.asked == []


async def test_a_pattern_that_is_none_is_said(tree: Bench) -> None:
    await tree.refuses("grep", "no regular expression", pattern="(")
    await tree.refuses("find_files", "no pattern", pattern=" ")


async def test_a_pattern_that_never_ends_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SEARCH_S", 1.0)
    bench.write("a.txt", "a" * 60 + "!\n")
    await bench.refuses("grep", "took longer", pattern="(a+)+$")


async def test_names_and_lines_of_others_do_no_harm(bench: Bench) -> None:
    bench.write("a\nb.txt", "x \x1b[2J\x1b]0;t\x07 total\n")
    bench.write("long.txt", "total " + "x" * 100_000 + "\n")
    found = (await bench("grep", pattern="total")).content
    assert "\x1b" not in found
    assert "a\\nb.txt:1:x  total" in found
    assert len(found) < 600


@pytest.mark.parametrize(
    ("glob", "fits", "not_"),
    [
        ("*.py", ["a.py", "b/c/a.py"], ["a.pyc", "py"]),
        ("src/*.py", ["src/a.py"], ["src/b/a.py", "x/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/b/c/a.py"], ["a.py"]),
        ("src/**", ["src/a", "src/b/c"], ["src", "x"]),
        ("**/test", ["test", "a/test"], ["test/a"]),
        ("{a,b}.txt", ["a.txt", "x/b.txt"], ["c.txt", "a,b.txt"]),
        ("[!a]?.c", ["bb.c"], ["ab.c", "b.c"]),
        ("a.c", ["a.c", "src/A.C.bak"], ["abc"]),
        ("[x", ["[x", "a/[x"], ["x"]),
    ],
)
def test_globs(glob: str, fits: list[str], not_: list[str]) -> None:
    match = matcher(glob)
    assert [path for path in fits if not match(path)] == []
    assert [path for path in not_ if match(path)] == []


@given(st.text(min_size=1, max_size=60), st.text(max_size=60))
def test_any_text_is_a_pattern_or_is_refused(glob: str, path: str) -> None:
    try:
        match = matcher(glob)
    except ValueError:
        return
    assert match(path) in (True, False)
