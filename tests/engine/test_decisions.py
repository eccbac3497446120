from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.engine import decisions
from milk_tui.engine.decisions import Decision, Refreshed, Watching, index_folder
from milk_tui.recall import records
from milk_tui.store import Store, decision_records, percepts
from tests.bench import reminders
from tests.support.polling import until


@pytest.fixture
def store(tmp_path: Path):
    opened = Store.open(tmp_path / "milk.db")
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shop" / "memory"


def put(folder: Path, name: str, title: str, date: str = "2026-01-01", more: str = "", body: str = "Body.") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"# {title}\n\nDate: {date}\n{more}\n\n{body}\n")


def listed(store: Store, folder: Path) -> dict[str, str]:
    rows = store.read_sync(lambda conn: decision_records.listed(conn, str(folder)))
    return {row.name: row.status for row in rows}


def ranked(store: Store, folder: Path, text: str) -> list[records.RecordHit]:
    return store.read_sync(lambda conn: records.rank(conn, str(folder), text))


def test_a_folder_that_is_not_there_has_no_records(store, folder):
    assert index_folder(store, folder) == Refreshed()


def test_only_what_changed_is_read_again_and_what_is_gone_is_forgotten(store, folder):
    put(folder, "a.md", "One")
    put(folder, "b.md", "Two")
    assert index_folder(store, folder).changed == 2
    assert index_folder(store, folder) == Refreshed(records=2)
    put(folder, "a.md", "One, changed")
    (folder / "b.md").unlink()
    assert index_folder(store, folder) == Refreshed(records=1, changed=1, gone=1)
    assert listed(store, folder) == {"a.md": "live"}


def test_a_superseded_record_gives_way_to_its_successor(store, folder):
    put(folder, "a.md", "Background jobs run in Celery", body="Celery with RabbitMQ.")
    put(
        folder, "b.md", "Background jobs run in the queue worker", "2026-03-01", "Replaces: a.md", "Celery was removed."
    )
    index_folder(store, folder)
    assert listed(store, folder) == {"a.md": "superseded", "b.md": "live"}
    [hit] = ranked(store, folder, "Install RabbitMQ and Celery for the background jobs")
    assert (hit.record.name, hit.sure) == ("b.md", True)
    (folder / "b.md").unlink()
    index_folder(store, folder)
    assert listed(store, folder) == {"a.md": "live"}


def test_records_that_replace_each_other_are_nobodys_answer(store, folder):
    put(folder, "a.md", "Celery runs the jobs", more="Replaces: b.md")
    put(folder, "b.md", "Celery runs the jobs", more="Replaces: a.md")
    index_folder(store, folder)
    assert ranked(store, folder, "Celery jobs") == []


def test_what_is_no_record_is_kept_with_its_reason_and_never_cited(store, folder):
    put(folder, "a.md", "Retries live in the worker")
    (folder / "README.md").write_text("# About retries in the worker\n")
    (folder / "huge.md").write_bytes(b"# Retries worker\nDate: 2026-01-01\n" + b"retries worker " * 350_000)
    (folder / "binary.md").write_bytes(os.urandom(2_000))
    (folder / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.md")
    (folder / "sub.md").mkdir()
    (folder / "note.txt").write_text("retries worker")
    found = index_folder(store, folder)
    assert (found.records, found.broken) == (1, 3)
    assert [hit.record.name for hit in ranked(store, folder, "retries in the worker")] == ["a.md"]


def test_a_folder_of_5000_records_is_read_and_searched(store, folder):
    folder.mkdir(parents=True)
    for number in range(5_000):
        put(
            folder,
            f"{number:05}.md",
            f"Decision about topic{number}",
            body=f"We chose option{number} for part{number % 50}.",
        )
    put(folder, "retries.md", "Payment retries live in the queue worker", body="A loop in the handler charged twice.")
    assert index_folder(store, folder).records == 5_001
    best = ranked(store, folder, "Add a retry loop to the payment handler")[0]
    assert (best.record.name, best.sure) == ("retries.md", True)
    assert not any(hit.sure for hit in ranked(store, folder, "Rename the function charge to charge_order"))


@pytest.mark.parametrize("text", ["", "   ", '"', 'a" OR "b', "*", "NEAR(", "\x00\x1b[2J", "漢字", "x" * 100_000])
def test_no_prompt_makes_the_search_fail(store, folder, text):
    put(folder, "a.md", "Retries live in the worker")
    index_folder(store, folder)
    assert not any(hit.sure for hit in ranked(store, folder, text))


def test_a_decision_is_written_as_a_file_with_its_date(store, folder):
    written = decisions.write(
        store, folder, decisions.said("Use cents. Floats lost one.", why="312 invoices"), date="2026-02-03"
    )
    text = (folder / written.name).read_text()
    assert written.name == "2026-02-03-use-cents.md"
    assert (
        "# Use cents" in text and "Date: 2026-02-03" in text and "Floats lost one." in text and "312 invoices" in text
    )


def test_what_a_decision_replaces_is_marked_in_both(store, folder):
    old = decisions.write(store, folder, Decision(title="Use floats"), date="2025-01-01")
    new = decisions.write(store, folder, Decision(title="Use cents", replaces=("floats",)), date="2026-02-03")
    assert listed(store, folder) == {old.name: "superseded", new.name: "live"}
    assert f"Superseded by: {new.name}" in (folder / old.name).read_text()


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        (Decision(title="  "), "blank"),
        (Decision(title="Use cents", replaces=("no such",)), "there is no record called"),
        (Decision(title="The key is AKIA" + "ABCDEFGHIJKLMNOP"), "secret"),
    ],
)
def test_what_can_not_be_written_says_why_and_leaves_nothing(store, folder, decision, why):
    with pytest.raises(MilkError, match=why):
        decisions.write(store, folder, decision, date="2026-01-01")
    assert not folder.exists()


def test_a_fact_becomes_a_record_and_a_record_a_fact(store, folder):
    change = store.write_sync(lambda db: percepts.add(db, content="Deploys happen on Tuesdays.", scope="global"))
    wanted = decisions.of_fact(store, change.percept.short_id, decisions.said(""))
    written = decisions.write(store, folder, wanted, date="2026-02-03")
    assert written.title == "Deploys happen on Tuesdays" and written.percept_id == change.percept.id[:6]
    decisions.write(store, folder, Decision(title="Releases are signed by hand"), date="2026-03-01")
    fact = decisions.to_fact(store, folder, "releases").percept
    assert (fact.producer, fact.scope) == ("user", "global") and "2026-03-01" in fact.content


async def test_a_watched_folder_is_read_again_when_it_changes(store, folder):
    folder.parent.mkdir()
    seen: list[Refreshed] = []
    watching = Watching(store, folder, seen.append)
    watching.start()
    try:
        await until(lambda: seen)
        put(folder, "a.md", "One")
        await until(lambda: seen[-1].records == 1, what="the folder was made")
        put(folder, "b.md", "Two")
        await until(lambda: seen[-1].records == 2, what="a file was added")
        (folder / "a.md").unlink()
        await until(lambda: seen[-1].records == 1, what="a file was removed")
    finally:
        await watching.aclose()
    assert asyncio.get_running_loop().is_running()


def test_reminders_reach_what_was_asked_for():
    class Quick:
        quick = True

    figures = reminders.run(Quick())  # type: ignore[arg-type]
    assert figures["quiet_prompts"] >= 20 and figures["prompts"] >= 60
    assert figures["precision"] >= 0.9 and figures["recall"] >= 0.7, json.dumps(figures["wrong"], indent=1)
    assert figures["false_alarm_count"] * 20 <= figures["quiet_prompts"]
    assert figures["atlas"]["precision"] >= 0.9 and figures["atlas"]["recall"] >= 0.7
