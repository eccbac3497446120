"""One line that a person writes: what to look for, a name, a value."""

from __future__ import annotations

from textual.widgets import Input


class LineInput(Input):
    """Its cursor stands still, as the prompt's does: a dialog that is left open draws nothing and sends nothing over a
    slow connection (``quality.md``, idle)."""

    def __init__(
        self, value: str = "", *, placeholder: str = "", id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(value, placeholder=placeholder, compact=True, id=id, classes=classes)
        self.set_reactive(Input.cursor_blink, False)
