"""What a shell command says at first sight: the class that a permission may cover, and programs that would wait for a
person. Pure; a command that isn't understood gets no class, so that each one is asked about."""

from __future__ import annotations

import re
import shlex

_SHELL_SIGNS = re.compile(r"[;&|<>$`()\\!{}*?~#\[\]\x00-\x08\x0a-\x1f\x7f]|^\s*\w+=")
_GIT = frozenset(
    {"add", "apply", "blame", "branch", "cat-file", "checkout", "cherry-pick", "commit", "describe", "diff", "fetch"}
    | {"grep", "log", "ls-files", "ls-tree", "merge", "mv", "pull", "reflog", "reset", "restore", "rev-list"}
    | {"rev-parse", "revert", "rm", "shortlog", "show", "stash", "status", "switch", "tag"}
)
"""Commands of git's own, which no alias can take the place of, and which start nothing that stands behind them."""
_SUBCOMMANDS = {
    "git": _GIT,
    "npm": frozenset({"test", "run", "ls", "outdated", "audit"}),
    "pnpm": frozenset({"test", "run", "ls", "list", "outdated", "audit"}),
    "yarn": frozenset({"test", "run", "list", "outdated", "audit"}),
    "cargo": frozenset({"build", "check", "test", "clippy", "fmt", "bench", "doc", "tree"}),
    "go": frozenset({"build", "test", "vet", "fmt", "list", "doc", "version"}),
    "uv": frozenset({"lock", "sync", "tree"}),
    "poetry": frozenset({"check", "lock", "show"}),
    "pip": frozenset({"list", "show", "freeze", "check"}),
    "mvn": frozenset({"test", "compile", "verify", "package"}),
    "gradle": frozenset({"test", "build", "check", "compileJava"}),
    "dotnet": frozenset({"build", "test", "format"}),
}
"""Programs whose commands may be allowed one by one."""
_TARGETS = frozenset({"make", "just"})
"""Programs that take the name of a task from a file of the project."""
_PLAIN = frozenset(
    {"pytest", "ruff", "mypy", "black", "isort", "flake8", "pylint"}
    | {"eslint", "prettier", "tsc", "jest", "vitest", "rspec", "phpunit"}
    | {"ls", "wc", "du", "df", "file", "stat", "which", "date", "uname", "head", "tail", "cat", "tree", "diff"}
)
"""Programs whose calls may be allowed together."""
_NAMES_MORE = frozenset(
    {"exec", "toolexec", "vettool", "overlay", "modfile", "ldflags", "gcflags", "config", "configfile", "append-config"}
    | {"settings", "rcfile", "init-hook", "load-plugins", "plugins", "rulesdir", "parser", "resolver", "require"}
    | {"bootstrap", "printer", "runner", "testrunner", "test-runner", "reporters", "globalsetup", "globalteardown"}
    | {"setupfiles", "transform", "script-shell", "shell", "prefix", "node-options", "userconfig", "globalconfig"}
    | {"manifest-path", "makefile", "file", "directory", "eval", "include-dir", "init-script", "build-file", "project"}
    | {"upload-pack", "receive-pack", "open-files-in-pager", "ext-diff", "textconv", "no-index", "output", "contents"}
    | {
        "python-executable",
        "install-types",
        "pdbcls",
        "override-ini",
        "rootdir",
        "confcutdir",
        "import-mode",
        "template",
    }
    | {
        "smtp-server",
        "cwd",
        "chdir",
        "environment",
        "compiler",
        "program",
        "command",
        "interpreter",
        "edit-description",
    }
    | {"resolve-plugins-relative-to", "files0-from", "to-file", "from-file", "magic-file"}
)
"""Options that name another program, code, or a file that is followed or written; also shortened, and with more behind
a hyphen."""
_SHORT = {
    "git": "O",
    "pytest": "pcoW",
    "make": "fCIE",
    "just": "fd",
    "cargo": "Z",
    "go": "C",
    "mvn": "fsgD",
    "gradle": "IbcpDP",
    "rspec": "rIO",
    "phpunit": "cd",
    "eslint": "c",
    "jest": "c",
    "vitest": "cr",
    "npm": "C",
    "pnpm": "C",
    "tree": "o",
    "file": "Cm",
    "date": "sf",
    "dotnet": "p",
}
"""Short options of the same kind."""
_WAITS = {
    "vi": "use edit_file or write_file",
    "vim": "use edit_file or write_file",
    "nvim": "use edit_file or write_file",
    "nano": "use edit_file or write_file",
    "emacs": "use edit_file or write_file",
    "less": "use read_file, or cat",
    "more": "use read_file, or cat",
    "man": "use `man -P cat NAME`",
    "top": "use `ps aux`, or `top -bn1`",
    "htop": "use `ps aux`",
    "watch": "run the command once",
    "tmux": "run the command itself",
    "screen": "run the command itself",
    "ftp": "use curl",
    "telnet": "use curl",
    "su": "run it as the user that you are",
    "passwd": "ask the person",
    "fzf": "use find_files or grep",
}
_BARE = {
    "python": "give a file, or -c CODE",
    "python3": "give a file, or -c CODE",
    "ipython": "use `python -c CODE`",
    "node": "give a file, or -e CODE",
    "irb": "use `ruby -e CODE`",
    "bash": "give the command itself",
    "sh": "give the command itself",
    "zsh": "give the command itself",
    "psql": "use `psql -c SQL`",
    "mysql": "use `mysql -e SQL`",
    "sqlite3": "give the SQL as the second argument",
    "redis-cli": "give the command as arguments",
    "cat": "give a file",
    "ssh": "give a command behind the host",
}
"""Programs that wait for a person when they are called with nothing to do."""
_PREFIXES = frozenset({"env", "time", "nice", "nohup", "command", "exec", "sudo", "doas", "timeout", "stdbuf"})
_BATCH = {
    "emacs": ("--batch", "-batch"),
    "man": ("-P", "--pager"),
    "top": ("-b", "-bn1", "-l"),
    "psql": ("-c", "-f", "-l"),
    "tmux": ("list-sessions", "-V"),
}


def pattern_of(command: str) -> str:
    """The class of a plain command, such as ``pytest *`` or ``git diff *``; empty for every other.

    Nothing that leads out of the directory has one, and nothing that names another program, code or a file to follow:
    so "always" for a class reaches no further than its name says.
    """
    if _SHELL_SIGNS.search(command):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if not words or "/" in words[0] or any(_leads_away(words[0], word) for word in words[1:]):
        return ""
    name = words[0]
    if name in _PLAIN:
        return f"{name} *"
    if len(words) > 1 and words[1] in _SUBCOMMANDS.get(name, ()):
        return f"{name} {words[1]} *"
    if name in _TARGETS and len(words) > 1 and re.fullmatch(r"[A-Za-z][\w.-]*", words[1]):
        return "" if any("=" in word for word in words) else f"{name} {words[1]} *"
    return ""


def _leads_away(program: str, word: str) -> bool:
    """Whether an argument names something outside of the directory, or something that would be run or followed."""
    if word.startswith("-") and not word.startswith("--") and any(sign in _SHORT.get(program, "") for sign in word[1:]):
        return True
    if (
        "://" in word
        or (program == "git" and "::" in word)
        or word.startswith("+")
        or (word.startswith("-") and _is_one_of(word, _NAMES_MORE))
    ):
        return True
    path = word.rpartition("=")[2] if word.startswith("-") else word
    return path.startswith("/") or ".." in path.split("/")


def _is_one_of(word: str, names: frozenset[str]) -> bool:
    """Whether an option is one of these; with two hyphens also one that is cut short, as many programs take it."""
    said = word.partition("=")[0].lstrip("-").lower()
    if any(said == name or said.startswith(f"{name}-") for name in names):
        return True
    return word.startswith("--") and bool(said) and any(name.startswith(said) for name in names)


def waits_for_person(command: str) -> str:
    """Why a command would wait for somebody at a terminal, and what to do instead; empty when it would not."""
    for part in re.split(r"&&|\|\||[;|&\n]", command):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            words = part.split()
        while words and (words[0] in _PREFIXES or re.fullmatch(r"\w+=.*", words[0]) or _number(words)):
            words = words[1:]
        if words and (why := _waits(words, part, command)):
            return why
    return ""


def _number(words: list[str]) -> bool:
    """An option of a prefix, such as the seconds of ``timeout``."""
    return bool(re.fullmatch(r"\d+[smh]?|-\w+", words[0])) and len(words) > 1


def _waits(words: list[str], part: str, command: str) -> str:
    name, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if name in _WAITS and not any(option in rest for option in _BATCH.get(name, ())):
        piped = name in ("less", "more") and "|" in command
        return "" if piped else f"{name} waits for a person at a terminal: {_WAITS[name]}."
    fed = "<" in part or "|" in command
    if name in _BARE and not fed:
        plain = [word for word in rest if not word.startswith("-")]
        bare = not rest if name != "ssh" else len(plain) < 2
        if bare or rest == ["-i"]:
            return f"{name} without more waits for a person at a terminal: {_BARE[name]}."
    if name == "git" and rest[:1] in (["add"], ["checkout"], ["commit"], ["stash"], ["reset"]):
        if "-p" in rest or "--patch" in rest or "-i" in rest or "--interactive" in rest:
            return f"git {rest[0]} with {'-p' if '-p' in rest else 'that option'} asks at a terminal: name the files."
        if rest[0] == "commit" and not _has_message(rest):
            return "git commit without -m opens an editor: give the message with -m."
    if name == "git" and rest[:1] == ["rebase"] and ("-i" in rest or "--interactive" in rest):
        return "git rebase -i opens an editor: use git rebase without -i, or git commit --fixup and --autosquash."
    return ""


def _has_message(words: list[str]) -> bool:
    said = ("-m", "--message", "-F", "--file", "-C", "--no-edit", "--reuse-message", "--dry-run", "--help")
    return any(word in said or word.startswith(("--message=", "--file=", "-m", "-am", "-qm")) for word in words)
