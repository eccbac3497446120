"""Which writer a session's export takes: the one place that knows the forms, for the screen and the command line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from milk_tui.core.records import Session
    from milk_tui.store import Store


class Form(StrEnum):
    """The value is the ending of a file's name."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


_ENDINGS = {**{form.value: form for form in Form}, "markdown": Form.MARKDOWN, "htm": Form.HTML}


def form_of(file: str) -> Form | None:
    """The form that a file's name asks for; ``None`` when its ending is none of them."""
    return _ENDINGS.get(Path(file).suffix.lstrip(".").casefold())


def write(out: TextIO, store: Store, session: Session, form: Form, *, secrets: bool = False) -> None:
    """Write the session; ``secrets``: leave in what looks like a key or a password. Blocks."""
    from milk_tui.engine import session_export, session_html

    said = session_export.conversation(store, session.id)
    match form:
        case Form.JSON:
            session_export.as_json(out, store, session, said, secrets=secrets)
        case Form.HTML:
            session_html.html(out, session, said, secrets=secrets)
        case Form.MARKDOWN:
            session_export.markdown(out, session, said, secrets=secrets)
