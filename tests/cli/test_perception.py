"""``milk-tui perception``: what the agents believe is shown, corrected in an editor, written and read as a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from milk_tui.core import perception as rules
from milk_tui.core.records import Layer, PerceptionEntry, Session
from milk_tui.engine import perception_writing
from milk_tui.store import Store
from tests.cli.conftest import Milk

POINTS = Path(__file__).parent.parent / "data" / "perception" / "points.md"


@pytest.fixture
def believed(home: Path, stored: Session) -> Session:
    """The session, with something in each layer."""
    store = Store.open(home / "data" / "milk.db")

    def fill(db) -> None:
        for turn, (layer, text) in enumerate(
            [
                (Layer.INVARIANT, "stack: python"),
                (Layer.FRAME, "slice: 023\nstory: points\ndecided: integer"),
                (Layer.WORKING, "file: a.py"),
                (Layer.WORKING, "file: b.py\nnext: test"),
            ],
            1,
        ):
            made = [replace(entry, writer="qwen", turn_id=turn) for entry in rules.parse(layer, text)]
            perception_writing.write(db, stored.id, made, now=turn, as_of=turn)

    store.write_sync(fill)
    store.close()
    return stored


def test_show_prints_the_layers_with_sizes_writers_and_what_is_missing(milk: Milk, believed: Session):
    out = milk("perception", "show").out
    assert "── frame · 41 of 3,000 characters" in out
    assert "decided: integer\n    qwen · turn 2 · without a reason: integer" in out
    assert "file: b.py\n    qwen · turn 4" in out


def test_show_prints_what_was_believed_by_the_end_of_a_turn(milk: Milk, believed: Session):
    out = milk("perception", "show", "--turn", "3").out
    assert "file: a.py" in out
    assert "b.py" not in out


def test_show_json_has_everything(milk: Milk, believed: Session):
    found = milk("perception", "show", "--json").json
    assert (found["session"], found["slice"], found["turn"]) == (believed.id, "023", 3)
    working = found["layers"]["working"]
    assert [each["entry"]["key"] for each in working["entries"]] == ["file", "next"]
    assert (working["budget"], working["characters"]) == (1500, len("file: b.py\nnext: test"))


def test_show_dense_is_one_line(milk: Milk, believed: Session):
    assert milk("perception", "show", "--dense").out == f"work{{f:b.py;n:{code_of('test')}}}\n"


def code_of(word: str) -> str:
    line = rules.dense([rules.normal(PerceptionEntry(layer=Layer.WORKING, key="next", value=word))])
    return line.removeprefix("work{n:").removesuffix("}")


def test_history_lists_the_turns_or_the_versions_of_one_entry(milk: Milk, believed: Session):
    assert [v["turn_id"] for v in milk("perception", "history", "--json").json["versions"]] == [1, 2, 3, 4]
    versions = milk("perception", "history", "working", "file", "--json").json["entries"]
    assert [entry["value"] for entry in versions] == ["b.py", "a.py"]
    assert "a.py" in milk("perception", "history", "working", "file").out
    assert milk("perception", "history", "working").code == 2
    assert "never was" in milk("perception", "history", "frame", "nothing").out


def test_a_file_that_is_written_says_what_is_believed_and_git_users_are_told(milk: Milk, believed: Session):
    Path(".git/info").mkdir(parents=True)
    ran = milk("perception", "write")
    text = Path("perception.md").read_text()
    assert "- stack: python" in text
    assert "\nfile: b.py\nnext: test" in text
    assert "--git-ignore" in ran.err
    milk("perception", "write", "--git-ignore")
    assert "perception.md" in Path(".git/info/exclude").read_text()
    assert milk("perception", "write").err == ""


def test_a_file_is_read_into_a_directory_without_a_session(milk: Milk, home: Path):
    assert milk("perception", "read").code == 1
    Path("perception.md").write_text(POINTS.read_text())
    ran = milk("perception", "read")
    assert "taken over" in ran.out
    assert "story:" in milk("perception", "show").out
    assert milk("perception", "read").out == "Nothing was changed.\n"
    milk("perception", "write")
    assert Path("perception.md").read_text() == POINTS.read_text()


def test_another_file_overrules_and_what_gave_way_is_shown(milk: Milk, believed: Session):
    Path("other.md").write_text("## Frame\nslice: 023\nstory: theirs\n")
    assert "changed on both sides: story" in milk("perception", "read", "other.md").out
    assert "the file overruled: points" in milk("perception", "show").out


def test_the_editor_changes_what_was_changed_in_it(milk: Milk, believed: Session, tmp_path: Path, monkeypatch):
    script = tmp_path / "edit.py"
    script.write_text(
        "import sys, pathlib\np = pathlib.Path(sys.argv[1])\n"
        "text = p.read_text().replace('story: points', 'story: points for lessons')\n"
        "p.write_text(text.replace('next: test\\n', ''))\n"
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    ran = milk("perception", "edit")
    assert "frame story: points for lessons" in ran.out
    assert "working next: (removed)" in ran.out
    shown = milk("perception", "show").out
    assert "story: points for lessons\n    file" in shown
    assert "next:" not in shown
    monkeypatch.setenv("VISUAL", f"{sys.executable} -c pass")
    assert milk("perception", "edit").out == "Nothing was changed.\n"
