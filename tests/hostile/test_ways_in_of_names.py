"""Each item as a name: in the config, the environment, of a file that the prompt completes."""

from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui import config_file, paths
from milk_tui.core.attachments import as_mention, mentions
from milk_tui.core.errors import MilkError
from milk_tui.engine.file_index import LIMIT, best, walked
from milk_tui.ui.choices import of_files
from milk_tui.ui.paint import cells
from tests.data.hostile import Item, items
from tests.hostile.watch import in_words

each = pytest.mark.parametrize("item", items(), ids=lambda item: item.id)


def quoted(text: str) -> str:
    """As a TOML string that holds it whole."""
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text) + '"'


@each
def test_a_value_of_the_config_is_taken_or_refused_in_one_line(item: Item) -> None:
    text = quoted(item.text.encode("utf-8", "replace").decode()[:500])
    for config in (
        f"[agents.{text}]\nmodel = 'x'\n",
        f"[agents.a]\nmodel = {text}\n",
        f"[agents.a]\nmodel = 'x'\napi_key_env = {text}\n",
        f"[agents.a]\nprovider = {text}\n",
        f"[ui]\ntheme = {text}\n",
        f"[keys]\n{text} = {text}\n",
        f"{text} = {text}\n",
        item.text[:2_000],
    ):
        try:
            config_file.parse(config, "config.toml")
        except MilkError as error:
            for said in (error.what, error.hint):
                assert len(said.splitlines()) <= 1
                assert not in_words(said)


@each
def test_a_folder_in_the_environment_is_a_path_or_nothing(item: Item) -> None:
    text = item.text.replace("\0", "")[:500]
    assert isinstance(paths.config_file({paths.HOME_VARIABLE: f"/tmp/{text}"}), Path)


def test_a_file_with_such_a_name_is_completed_as_itself_or_not_at_all(tmp_path: Path) -> None:
    made = 0
    for item in items():
        name = item.data.replace(b"/", b"_").replace(b"\0", b"")[:200]
        try:
            Path(tmp_path, name.decode("utf-8", "surrogateescape")).write_text("")
        except (OSError, ValueError):
            continue
        made += 1
    assert made > 200
    offered = best(walked(tmp_path), "", LIMIT * 100)
    assert offered
    for path, choice in zip(offered, of_files(offered), strict=True):
        assert not in_words(choice.shown + choice.about)
        assert cells(choice.line(60)) <= 80
        assert (tmp_path / path).exists()
        assert path.isprintable()
        assert len(mentions(as_mention(path))) == 1
