"""The smallest Textual app that one can type into: header, input, footer. Benchmarks compare with it."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Footer, Header, Input


class SmallestApp(App[None]):
    BINDINGS = [("ctrl+g", "bell", "Bell"), ("f1", "bell", "Help")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        yield Header()
        yield Input()
        yield Footer()


if __name__ == "__main__":
    SmallestApp().run()
