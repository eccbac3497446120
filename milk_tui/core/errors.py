"""Errors that are shown to the person: what happened, to what, and what to do."""

from __future__ import annotations


class MilkError(Exception):
    """One line for the person.

    ``what`` says what happened and to what; ``hint`` says what to do about it and may be empty.
    """

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(f"{what} {hint}".strip())
        self.what = what
        self.hint = hint


class PerceptRefusedError(MilkError):
    """A fact was not stored (``semantics.md`` §2); ``hint`` names the override where there is one."""


class StoreError(MilkError):
    """The database can't be used: damaged, newer than this program, read-only, locked, or its folder is.

    ``passes``: the same may work in a while, when the disk has room again or another program has let go.
    """

    def __init__(self, what: str, hint: str = "", *, passes: bool = False) -> None:
        super().__init__(what, hint)
        self.passes = passes


class ConfigError(MilkError):
    """The configuration is wrong; ``what`` names file, key and allowed values."""
