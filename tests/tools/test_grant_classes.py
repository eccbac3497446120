"""A class that the person allows, such as ``git diff *``, reaches no further than its name says: whatever a model
writes behind it, nothing else is run, and nothing outside of the directory is read or written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.grants import Grant, covers
from milk_tui.core.permissions import PermissionRequest
from milk_tui.core.records import Role
from milk_tui.tools.command_words import pattern_of
from tests.tools.conftest import Bench

PLAIN = [
    ("pytest -q -x -k 'money or time' tests/pay", "pytest *"),
    ("git status -s", "git status *"),
    ("git log --oneline -5 -- src/pay.py", "git log *"),
    ("git commit -m 'say why'", "git commit *"),
    ("make test", "make test *"),
    ("cargo test --release", "cargo test *"),
    ("go test -run TestPay -v", "go test *"),
    ("npm run lint", "npm run *"),
    ("ruff check src", "ruff *"),
    ("ls -la src", "ls *"),
    ("cat src/pay.py", "cat *"),
]
ESCAPES = [
    "git status; rm -rf x",
    "git status && rm x",
    "git status || rm x",
    "git status | sh",
    "git status\nrm x",
    "git status\rrm x",
    "git status & rm x",
    "git status $(rm x)",
    "git status `rm x`",
    "git status ${IFS}x",
    "git status > /etc/x",
    "git status >x",
    "git status < x",
    "git status <(rm x)",
    "git diff $'a\\nb'",
    "GIT_PAGER=sh git log",
    "X=1 git status",
    "env git status",
    "command git status",
    "\\git status",
    "./git status",
    "/tmp/git status",
    "git -c alias.status='!sh' status",
    "git -C /tmp status",
    "git --exec-path=/tmp status",
    "git st",
    "git unknown-alias",
    "git grep -Osh x",
    "git grep --open-files-in-pager=sh x",
    "git grep --open-fil=sh x",
    "git fetch --upload-pack=sh origin",
    "git fetch --upload-p=sh origin",
    "git fetch ext::sh",
    "git fetch http://x/y",
    "git pull --upload-pack sh origin",
    "git diff --output=x",
    "git diff --outp x",
    "git log --output=x",
    "git diff --no-index /etc/passwd x",
    "git diff --ext-diff",
    "git show --textconv x",
    "git archive --exec=sh --remote=x",
    "git clone -u sh x",
    "git blame --contents /etc/passwd x",
    "git apply ../x.patch",
    "pytest -p evil",
    "pytest -c ../x.ini",
    "pytest -pevil",
    "pytest --pdbcls=evil:Evil",
    "pytest --rootdir=/tmp",
    "pytest /tmp/evil",
    "pytest ../evil",
    "pytest -o addopts=x",
    "pylint --init-hook=import\\ os x",
    "pylint --load-plugins=evil x",
    "mypy --python-executable=evil x",
    "mypy --config-file=evil x",
    "flake8 --append-config x",
    "eslint --rulesdir x",
    "prettier --plugin=x y",
    "jest --config=x",
    "rspec -r ./evil",
    "phpunit --bootstrap evil.php",
    "make test SHELL=/tmp/evil",
    "make test CC=evil",
    "make -f evil test",
    "make test -fevil",
    "make test --eval=x",
    "make test -C ..",
    "go test -exec evil",
    "go test -toolexec=evil",
    "go build -toolexec evil",
    "go vet -vettool=evil",
    "go run evil.go",
    "cargo test --config x",
    "cargo build --manifest-path ../Cargo.toml",
    "cargo +evil test",
    "cargo run",
    "npm exec evil",
    "npm run x --script-shell=evil",
    "npm test --prefix ..",
    "npx evil",
    "uv run evil",
    "uvx evil",
    "pip wheel evil",
    "mvn exec:exec",
    "mvn test -f ../pom.xml",
    "gradle test -I evil.gradle",
    "gradle test --init-script=evil",
    "dotnet run",
    "hg status --config extensions.x=evil",
    "cmake -E env evil",
    "ctest -S evil",
    "ninja -f evil",
    "tox",
    "cat /etc/passwd",
    "cat ../../secret",
    "cat ~/.ssh/id_rsa",
    "head --bytes=10 /etc/passwd",
    "diff x /etc/passwd",
    "wc --files0-from=/etc/passwd",
    "tree -o x",
    "find . -exec sh",
    "xargs sh",
    "sudo ls",
]


@pytest.mark.parametrize(("command", "pattern"), PLAIN)
def test_a_plain_command_has_its_class(command: str, pattern: str) -> None:
    assert pattern_of(command) == pattern


@pytest.mark.parametrize("command", ESCAPES)
def test_what_would_escape_its_class_has_none_and_is_asked_each_time(command: str) -> None:
    assert pattern_of(command) == ""


@given(st.sampled_from([command for command, _ in PLAIN]), st.sampled_from(";|&\n<>`$(){}*?!~#\\"), st.text(max_size=8))
def test_no_sign_of_the_shell_is_let_through_anywhere(command: str, sign: str, more: str) -> None:
    for text in (f"{command}{sign}{more}", f"{command} {more}{sign}x", f"{more}{sign} {command}"):
        assert pattern_of(text) == ""


@given(st.text(max_size=60))
def test_any_text_has_a_class_of_its_own_first_word_or_none(command: str) -> None:
    pattern = pattern_of(command)
    assert pattern == "" or pattern.split()[0] == command.split()[0]


@pytest.mark.parametrize("command", ESCAPES)
def test_a_grant_of_a_class_does_not_cover_an_escape(command: str) -> None:
    request = PermissionRequest(
        id="1",
        role=Role.PRIMARY,
        agent_name="qwen",
        tool="run_command",
        arguments=json.dumps({"command": command}),
        title="run",
        directory="/work",
        pattern=pattern_of(command),
    )
    for _, pattern in PLAIN:
        grant = Grant(agent_name="qwen", tool="run_command", pattern=pattern, directory="/work")
        assert not covers(grant, request, "s")


async def test_what_is_asked_about_is_what_is_run(bench: Bench) -> None:
    """Arguments are read once: a call whose text is changed while the person thinks runs as it was shown."""
    arguments = bytearray(json.dumps({"command": "echo shown > out"}).encode())
    text = arguments.decode()

    def change(request: PermissionRequest) -> object:
        arguments[:] = json.dumps({"command": "echo other > out"}).encode()
        from milk_tui.core.permissions import Verdict

        return Verdict(allowed=True)

    bench.verdict = change  # type: ignore[assignment]
    await bench.tools.run("call", "run_command", text)
    assert bench.read("out") == "shown\n"
    assert json.loads(bench.asked[0].arguments) == {"command": "echo shown > out"}
