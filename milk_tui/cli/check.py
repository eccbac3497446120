"""One look of the doctor."""

from __future__ import annotations

from msgspec import Struct


class Check(Struct, frozen=True, kw_only=True):
    """What was seen. ``state``: ok · info · missing (not needed, but would help) · warning · error."""

    section: str
    name: str
    state: str
    detail: str
    hint: str = ""


def check(section: str, name: str, state: str, detail: str, hint: str = "") -> Check:
    return Check(section=section, name=name, state=state, detail=detail, hint=hint)
