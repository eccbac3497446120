"""What is installed with the program: bounded, locked by hash for the whole check, and quiet when it is imported."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCK = (ROOT / ".ci" / "lock.txt").read_text("utf-8")
RUNTIME = [Requirement(text) for text in PROJECT["dependencies"]]
EXTRAS = {
    name: [r for text in texts if (r := Requirement(text)).name != PROJECT["name"]]
    for name, texts in PROJECT["optional-dependencies"].items()
}
MALICIOUS = {"litellm": ("1.82.7", "1.82.8")}
"""Releases that stole what they found (``dependencies.md``)."""


def every_requirement() -> Iterator[Requirement]:
    yield from RUNTIME
    for requirements in EXTRAS.values():
        yield from requirements


def locked() -> dict[str, tuple[Version, list[str]]]:
    """Version and hashes by name, as the lock file has them."""
    found = {}
    for entry in re.split(r"\n(?=[a-z0-9])", LOCK.replace("\\\n", " ")):
        if match := re.match(r"([a-z0-9][a-z0-9._-]*)==([^ ;\n]+)", entry):
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)
            found[canonicalize_name(match[1])] = (Version(match[2]), hashes)
    return found


@pytest.mark.parametrize("requirement", every_requirement(), ids=str)
def test_every_dependency_has_a_lower_bound(requirement: Requirement) -> None:
    assert {part.operator for part in requirement.specifier} & {">=", "==", "~="}


def made_wheel(folder: Path, name: str, version: str) -> None:
    """A package with nothing in it, as an index would serve it."""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        about = f"{name}-{version}.dist-info"
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def resolve(requirement: Requirement, index: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Ask pip itself, without a network and without the machine's own settings."""
    where = ["--no-index", "--find-links", str(index), "--dest", str(tmp_path / "got")]
    wanted = f"{requirement.name}{requirement.specifier}"
    return subprocess.run(
        [sys.executable, "-m", "pip", "--isolated", "download", "--no-deps", *where, wanted],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": "/dev/null", "HOME": str(tmp_path)},
        check=False,
    )


@pytest.mark.parametrize("name", MALICIOUS)
def test_a_malicious_release_cannot_be_resolved(name: str, tmp_path: Path) -> None:
    (requirement,) = [each for each in RUNTIME if each.name == name]
    index = tmp_path / "index"
    index.mkdir()
    for version in MALICIOUS[name]:
        made_wheel(index, name, version)
    refused = resolve(requirement, index, tmp_path)
    assert refused.returncode != 0
    assert "No matching distribution" in refused.stderr
    made_wheel(index, name, "1.99.0")
    assert resolve(requirement, index, tmp_path).returncode == 0, (
        "an allowed release resolves, so the refusal says something"
    )


def test_a_malicious_release_is_refused_even_where_the_lower_bound_falls() -> None:
    for name, versions in MALICIOUS.items():
        (requirement,) = [each for each in RUNTIME if each.name == name]
        excluded = {part.version for part in requirement.specifier if part.operator == "!="}
        assert set(versions) <= excluded


def test_every_locked_package_has_hashes_and_no_other_form_is_in_the_lock() -> None:
    packages = locked()
    assert len(packages) > 60
    assert [name for name, (_, hashes) in packages.items() if not hashes] == []
    others = [line for line in LOCK.splitlines() if line and not line.startswith((" ", "#"))]
    assert [line for line in others if "==" not in line] == []


@pytest.mark.parametrize("requirement", every_requirement(), ids=str)
def test_what_the_project_asks_for_is_in_the_lock_within_its_bounds(requirement: Requirement) -> None:
    version, _ = locked()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version), "make the lock anew; its first lines say how"


def test_the_lock_has_no_malicious_release() -> None:
    for name, versions in MALICIOUS.items():
        assert str(locked()[name][0]) not in versions


def test_the_whole_check_installs_by_hash() -> None:
    command = re.search(r"<!-- test command -->\n```sh\n(.*?)\n```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert command is not None
    assert "--require-hashes -r .ci/lock.txt" in command[1]


QUIET = """
import sys

def watch(event, args):
    if event == "socket.bind" and args[1][0] in ("::1", "127.0.0.1"):
        return  # urllib3 asks the system in this way whether it has IPv6
    if event.startswith(("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostby",
                         "subprocess.", "os.system", "os.exec", "os.posix_spawn", "urllib.")):
        print("did", event, args, file=sys.stderr, flush=True)
        import os
        os._exit(9)

sys.addaudithook(watch)
"""


def quiet(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a Python that ends at once when it reaches for the network or starts a program."""
    return subprocess.run(
        [sys.executable, "-c", QUIET + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "MILK_TUI_HOME": str(home), "HOME": str(home), "LANG": "C.UTF-8"},
        check=False,
    )


def test_the_watch_sees_a_connection_and_a_child(tmp_path: Path) -> None:
    assert quiet("import socket; socket.create_connection(('127.0.0.1', 9))", tmp_path).returncode == 9
    assert quiet("import subprocess; subprocess.run(['true'])", tmp_path).returncode == 9
    assert quiet("import json", tmp_path).returncode == 0


def test_importing_any_module_opens_no_connection_and_starts_no_program(tmp_path: Path) -> None:
    done = quiet(
        "import importlib, pkgutil, milk_tui\n"
        "names = [m.name for m in pkgutil.walk_packages(milk_tui.__path__, 'milk_tui.')]\n"
        "names = [n for n in names if not n.endswith('__main__')]\n"
        "for name in names: importlib.import_module(name)\n"
        "print(len(names))",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 400


@pytest.mark.slow
def test_loading_the_library_of_the_model_host_opens_no_connection(tmp_path: Path) -> None:
    done = quiet(
        "import asyncio\n"
        "from milk_tui.modelhost import loading\n"
        "from milk_tui.modelhost.redact import Redactor\n"
        "async def wait(): return await loading.load(Redactor({}))\n"
        "print(asyncio.run(wait()).__name__)",
        tmp_path,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "litellm"), done.stderr[-2000:]


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["sessions", "list"], ["config", "path"]], ids=" ".join
)
def test_a_command_that_needs_no_model_opens_no_connection(arguments: list[str], tmp_path: Path) -> None:
    done = quiet(f"from milk_tui.cli import main\nsys.argv = ['milk-tui', *{arguments!r}]\nmain()", tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
