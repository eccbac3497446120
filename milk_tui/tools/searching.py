"""``find_files`` and ``grep``: by ripgrep where it is installed, else by ``search_worker``; both in a process that can
be ended. What ``.gitignore`` excludes is left out."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from milk_tui.core.text import clean
from milk_tui.core.tool_calls import ToolOutcome
from milk_tui.tools import globs, processes
from milk_tui.tools.base import OUTPUT_CHARS, Access, Arguments, Call, Prepared, Refused, cut, plural, tool
from milk_tui.tools.places import Place
from milk_tui.tools.reading import outside
from milk_tui.tools.search_worker import Found, Search
from milk_tui.tools.site import Site

FAMILY = "search"
SEARCH_S = 30.0
MOST = 1_000
_NOTHING_FOUND = 1


class FindFiles(Arguments, frozen=True, kw_only=True):
    pattern: Annotated[str, Meta(description="A part of the path, or a pattern such as *.py or src/**/test_*.py.")]
    path: Annotated[str, Meta(description="The folder to look in.")] = "."
    limit: Annotated[int, Meta(ge=1, le=MOST)] = 200


class Grep(Arguments, frozen=True, kw_only=True):
    pattern: Annotated[str, Meta(description="A regular expression.")]
    path: Annotated[str, Meta(description="The folder or file to look in.")] = "."
    glob: Annotated[str, Meta(description="Only files that fit, such as *.py.")] = ""
    ignore_case: bool = False
    limit: Annotated[int, Meta(ge=1, le=MOST, description="How many lines at most.")] = 100


async def _prepare_find(site: Site, said: FindFiles) -> Prepared:
    place = site.place(said.path)
    _check_glob(said.pattern)

    async def run(call: Call) -> ToolOutcome:
        search = _search(site, place, glob=said.pattern, limit=said.limit)
        found, lines = await _by_worker(search)
        if not lines:
            return ToolOutcome(f"No file fits {said.pattern} among {plural(found.files, 'file')}.")
        more = [f"[more than {said.limit:,}; narrow the pattern]"] if found.more else []
        return ToolOutcome(cut("\n".join([*lines, *more])))

    return Prepared(run, outside(place, "find files in", below=True))


async def _prepare_grep(site: Site, said: Grep) -> Prepared:
    place = site.place(said.path)
    if not said.pattern:
        raise Refused("The pattern is empty.")
    if said.glob:
        _check_glob(said.glob)

    async def run(call: Call) -> ToolOutcome:
        program = shutil.which("rg")
        if program is not None and not said.glob:
            return await _by_ripgrep(program, site, place, said)
        search = _search(
            site, place, pattern=said.pattern, glob=said.glob, ignore_case=said.ignore_case, limit=said.limit
        )
        found, lines = await _by_worker(search)
        return _lines(lines, said, more=found.more)

    return Prepared(run, outside(place, "search in", below=True))


def _check_glob(pattern: str) -> None:
    try:
        globs.matcher(pattern)
    except ValueError as error:
        raise Refused(f"That is no pattern for files: {error}.") from error


def _search(site: Site, place: Place, **more: object) -> Search:
    base = str(place.directory if place.inside else place.path)
    skip = tuple(str(folder) for folder in site.private)
    return Search(root=str(place.path), base=base, ignore_from=_repository(base), skip=skip, **more)  # type: ignore[arg-type]


def _repository(base: str) -> str:
    """The folder with ``.git`` that this one is in, else the folder itself."""
    for folder in (Path(base), *Path(base).parents):
        if (folder / ".git").exists():
            return str(folder)
    return base


def _lines(lines: list[str], said: Grep, *, more: bool) -> ToolOutcome:
    if not lines:
        return ToolOutcome("Nothing found.")
    rest = [f"[more than {said.limit:,} lines; narrow the search]"] if more else []
    return ToolOutcome(cut("\n".join([*lines, *rest]), OUTPUT_CHARS))


async def _by_worker(search: Search) -> tuple[Found, list[str]]:
    command = (sys.executable, "-P", "-m", "milk_tui.tools.search_worker")
    code, out, err = await _output(command, Path("/"), msgspec.json.encode(search))
    text, _, last = out.rpartition("\0")
    if code != 0 or not last:
        problem = err.strip().rsplit("\n", 1)[-1][:300]
        raise Refused(f"The search failed: {clean(problem) or f'exit code {code}'}.")
    return msgspec.json.decode(last, type=Found), clean(text).split("\n")[:-1]


async def _by_ripgrep(program: str, site: Site, place: Place, said: Grep) -> ToolOutcome:
    base = place.directory if place.inside else place.path if place.path.is_dir() else place.path.parent
    root = "." if place.path == base else str(place.path.relative_to(base))
    flags = ["--no-config", "--line-number", "--no-heading", "--with-filename", "--color=never", "--hidden"]
    flags += ["--max-columns=300", "--max-columns-preview", "--sort=path", "--glob=!.git", "--no-messages"]
    flags += ["--ignore-case"] if said.ignore_case else []
    flags += [f"--glob=!{folder}" for folder in site.private]
    code, out, err = await _output(
        (program, *flags, f"--regexp={said.pattern}", "--", root), base, b"", lines=said.limit + 1
    )
    if code not in (0, _NOTHING_FOUND, None):
        raise Refused(f"The search failed: {clean(err.strip())[:300] or f'exit code {code}'}.")
    lines = [line.removeprefix("./") for line in clean(out).split("\n") if line]
    return _lines(lines[: said.limit], said, more=len(lines) > said.limit)


async def _output(
    command: tuple[str, ...], directory: Path, stdin: bytes, *, lines: int | None = None
) -> tuple[int | None, str, str]:
    """A program's end and output; it is stopped after ``lines`` lines, and after ``SEARCH_S``. Raises ``Refused``."""
    env = processes.environment(("PYTHONPATH",))
    started = await processes.start(
        command, directory=directory, env=env, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    process = started.process
    assert process.stdin and process.stdout and process.stderr
    parts: list[bytes] = []
    seen = 0
    try:
        async with asyncio.timeout(SEARCH_S):
            with contextlib.suppress(ConnectionError):
                process.stdin.write(stdin)
                await process.stdin.drain()
            process.stdin.close()
            errors = asyncio.create_task(process.stderr.read(20_000))
            while chunk := await process.stdout.read(1 << 16):
                parts.append(chunk)
                seen += chunk.count(b"\n")
                if lines is not None and seen >= lines:
                    break
            else:
                await processes.exited(process)
            code = process.returncode
            problem = b"" if code is None else await errors
            errors.cancel()
    except TimeoutError as error:
        raise Refused(f"The search took longer than {SEARCH_S:.0f} s; look in fewer files.") from error
    finally:
        await processes.end(started, grace_s=0.2)
        started.let_go()
    return code, b"".join(parts).decode("utf-8", "replace"), problem.decode("utf-8", "replace")


TOOLS = (
    tool(
        "find_files",
        "Find files by name or pattern. Ignored files are left out.",
        FindFiles,
        _prepare_find,
        family=FAMILY,
        access=Access.READ,
        timeout_s=SEARCH_S + 10,
    ),
    tool(
        "grep",
        "Search the text of files; answers with path:line:text. Ignored and binary files are left out.",
        Grep,
        _prepare_grep,
        family=FAMILY,
        access=Access.READ,
        timeout_s=SEARCH_S + 10,
    ),
)
