"""The collection itself: harmless to look at, whole, of every kind."""

from __future__ import annotations

from tests.data.hostile import FOLDER, items

WANTED = {
    "csi", "osc", "dcs", "apc", "escape", "control", "line", "bidi", "invisible", "tags", "selectors", "combining",
    "wide", "homoglyph", "surrogate", "bytes", "markup", "html", "link", "beacon", "markdown", "nonce", "nested",
    "wrapper", "order", "fake", "path", "shell", "sql", "fts", "format", "number", "json", "bomb", "long", "empty",
}  # fmt: skip


def test_the_files_hold_nothing_but_plain_ascii_lines() -> None:
    for file in FOLDER.glob("*.jsonl"):
        data = file.read_bytes()
        assert all(0x20 <= byte < 0x7F or byte == 0x0A for byte in data), file.name
        assert max(map(len, data.splitlines())) < 4_000


def test_every_kind_is_there_and_every_item_says_what_must_not_happen() -> None:
    found = items()
    assert len(found) >= 150
    assert len({item.id for item in found}) == len(found)
    assert {item.kind for item in found} >= WANTED
    assert all(len(item.never.split()) >= 3 for item in found)
