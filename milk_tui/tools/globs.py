"""Patterns for paths: ``*`` and ``?`` stay within a name, ``**`` crosses folders, ``{a,b}`` and ``[abc]`` choose."""

from __future__ import annotations

import re
from collections.abc import Callable

LONGEST = 500


def matcher(glob: str) -> Callable[[str], bool]:
    """Whether a relative path fits. Without a ``/`` the name in any folder counts; a word without signs is looked for
    anywhere in the path. Raises ``ValueError`` for a pattern that is none."""
    glob = glob.strip().removeprefix("./")
    if not glob or len(glob) > LONGEST:
        raise ValueError("the pattern is empty or too long")
    if not any(sign in glob for sign in "*?[{"):
        word = glob.lower()
        return lambda path: word in path.lower()
    if "/" not in glob:
        glob = f"**/{glob}"
    pattern = re.compile(regular(glob.lstrip("/")) + r"\Z", re.DOTALL)
    return lambda path: pattern.match(path) is not None


def regular(glob: str) -> str:
    """The pattern as a regular expression. Linear to match: no part of it can match in two ways."""
    parts: list[str] = []
    at, depth = 0, 0
    while at < len(glob):
        sign = glob[at]
        if glob.startswith("**/", at):
            parts.append("(?:[^/]+/)*+" if _begins_a_name(glob, at) else "[^/]*/")
            at += 3
            continue
        if glob.startswith("**", at):
            parts.append(".*")
            at += 2
            continue
        if sign == "[" and (end := glob.find("]", at + 2)) > 0:
            inner = glob[at + 1 : end].replace("\\", "\\\\")
            inner = f"^{inner[1:]}" if inner[0] in "!^" else inner
            parts.append(f"[{inner}]")
            at = end + 1
            continue
        if sign == "{" and "}" in glob[at:]:
            parts.append("(?:")
            depth += 1
        elif sign == "}" and depth:
            parts.append(")")
            depth -= 1
        elif sign == "," and depth:
            parts.append("|")
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(sign, re.escape(sign)))
        at += 1
    return "".join(parts) + ")" * depth


def _begins_a_name(glob: str, at: int) -> bool:
    return at == 0 or glob[at - 1] == "/"
