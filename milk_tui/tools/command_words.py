"""What a shell command says at first sight: the class that a permission may cover, and programs that would wait for a
person. Pure; a command that isn't understood gets no class, so that each one is asked about."""

from __future__ import annotations

import re
import shlex

_SHELL_SIGNS = re.compile(r"[;&|<>$`()\n\\!{}*?~#\[\]]|^\s*\w+=")
_SUBCOMMANDS = frozenset(
    {
        "git",
        "npm",
        "pnpm",
        "yarn",
        "cargo",
        "go",
        "uv",
        "poetry",
        "pip",
        "make",
        "just",
        "mvn",
        "gradle",
        "dotnet",
        "hg",
    }
)
_PLAIN = frozenset(
    {"pytest", "ruff", "mypy", "black", "isort", "flake8", "pylint", "tox", "nox"}
    | {"eslint", "prettier", "tsc", "jest", "vitest", "rspec", "phpunit", "ctest", "cmake", "ninja"}
    | {"ls", "wc", "du", "df", "file", "stat", "which", "date", "uname", "head", "tail", "cat", "tree", "diff"}
)
"""Programs whose calls may be allowed together: they run no command that stands in their arguments."""
_RUNS_ANYTHING = {
    "git": frozenset({"config", "bisect", "rebase", "filter-branch", "submodule", "difftool", "mergetool", "push"}),
    "npm": frozenset({"exec", "publish", "config", "install", "i"}),
    "pnpm": frozenset({"exec", "dlx", "publish", "install", "add"}),
    "yarn": frozenset({"exec", "dlx", "publish", "install", "add"}),
    "cargo": frozenset({"install", "publish"}),
    "go": frozenset({"install", "generate", "get"}),
    "uv": frozenset({"run", "tool", "publish", "pip", "add"}),
    "poetry": frozenset({"run", "publish", "add"}),
    "pip": frozenset({"install", "download"}),
}
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
    """The class of a plain command, such as ``pytest *`` or ``git diff *``; empty for every other."""
    if _SHELL_SIGNS.search(command):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if not words or "/" in words[0]:
        return ""
    if words[0] in _PLAIN:
        return f"{words[0]} *"
    if words[0] in _SUBCOMMANDS and len(words) > 1:
        sub = words[1]
        if re.fullmatch(r"[\w:.-]+", sub) and not sub.startswith("-") and sub not in _RUNS_ANYTHING.get(words[0], ()):
            return f"{words[0]} {sub} *"
    return ""


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
