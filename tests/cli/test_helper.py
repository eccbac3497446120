from __future__ import annotations

from pathlib import Path

import pytest

from milk_tui.engine.helper.profiles import BUILT_IN
from tests.cli.conftest import Milk

BUILT = (BUILT_IN / "recall.md").read_text()
PROMPT = "Add a retry loop with exponential backoff around the gateway charge call in the payments handler"


def record(milk: Milk) -> str:
    text = (
        "Payment retries live in the queue worker. A retry loop in the request handler charged customers twice during a"
        " gateway timeout."
    )
    return milk("decide", text, "--date", "2026-04-14", "--why", "customers paid twice", "--json").json["name"]


def mine(home: Path, text: str, name: str = "mine.md") -> None:
    folder = home / "config" / "helpers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_a_decision_is_recorded_listed_and_reminded_of(milk: Milk) -> None:
    name = record(milk)
    assert "2026-04-14" in milk("decide", "--list").out and name in milk("decide", "--list").out
    ran = milk("helper", "run", "--for", "elsewhere", PROMPT)
    assert ran.code == 0 and name in ran.out and "2026-04-14" in ran.out
    quiet = milk("helper", "run", "--for", "elsewhere", "Fix the typo in the title", "--json")
    assert quiet.json == {"status": "quiet", "reason": "", "note": None}
    log = milk("helper", "log", "--json").json
    assert [run["status"] for run in log] == ["quiet", "note"]
    assert "lexical" in milk("helper", "log").out


def test_a_record_that_is_replaced_is_no_longer_reminded_of(milk: Milk) -> None:
    name = record(milk)
    milk("decide", "Card charges are retried by the provider", "--replaces", name, "--date", "2026-08-01")
    ran = milk("helper", "run", "--for", "elsewhere", PROMPT, "--json")
    assert name not in str(ran.json["note"]).replace(f"in place of {name}", "")
    assert "superseded by 2026-08-01-card-charges" in milk("decide", "--list").out


def test_a_fact_becomes_a_record_and_a_record_a_fact(milk: Milk) -> None:
    milk("memory", "learn", "Releases leave on Tuesdays")
    [fact] = milk("memory", "list", "--json").json
    made = milk("decide", "--from-fact", fact["id"], "--json").json
    assert made["title"] == "Releases leave on Tuesdays" and made["percept_id"] == fact["id"][:6]
    name = record(milk)
    assert name in milk("decide", "--to-fact", name).out
    assert any(name in each["content"] for each in milk("memory", "list", "--json").json)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["decide"], 2, "Say what was decided"),
        (["decide", "x", "--date", "spring"], 2, "write it like 2026-04-14"),
        (["decide", "x", "--replaces", "none"], 1, "there is no record called"),
        (["decide", "--from-fact", "ffffff"], 1, "There is no fact"),
        (["decide", "--to-fact", "none"], 1, "there is no record called"),
        (["helper", "run", "--for", "s", "--profile", "none", "x"], 1, "There is no profile 'none'"),
        (["helper", "run", "--for", "s", "--signal", "none", "x"], 2, "There is no signal none"),
        (["helper", "show", "none"], 1, "There is no profile"),
        (["helper", "select", "recall", "none"], 1, "There is no version of recall"),
    ],
)
def test_what_can_not_be_done_says_why(milk: Milk, words: list[str], code: int, said: str) -> None:
    ran = milk(*words)
    assert ran.code == code and said in ran.err


def test_every_signal_is_listed_with_its_source_and_whether_it_is_served(milk: Milk) -> None:
    listed = milk("helper", "signals", "--json").json
    assert len(listed) == 13 and all(each["source"] for each in listed)
    rows = [line.split()[:2] for line in milk("helper", "signals").out.splitlines()]
    assert ["session.turn-started", "yes"] in rows and ["task.unknown", "not"] in rows


def test_a_profile_of_the_person_takes_the_place_of_the_built_in_one(milk: Milk, home: Path) -> None:
    mine(home, BUILT.replace("1.0.0", "2.0.0"))
    [listed] = [p for p in milk("helper", "list", "--json").json["profiles"] if p["id"] == "recall"]
    assert listed["version"] == "2.0.0" and listed["source"].endswith("mine.md")


def test_the_projects_profile_goes_before_the_persons(milk: Milk, home: Path) -> None:
    mine(home, BUILT.replace("1.0.0", "2.0.0"))
    folder = Path.cwd() / ".milk" / "helpers"
    folder.mkdir(parents=True)
    (folder / "recall.md").write_text(BUILT.replace("1.0.0", "3.0.0"))
    assert "3.0.0" in milk("helper", "show", "recall").out


def test_an_earlier_version_is_chosen_again_until_the_file_says_something_new(milk: Milk, home: Path) -> None:
    for version in ("2.0.0", "3.0.0"):
        mine(home, BUILT.replace("1.0.0", version))
        milk("helper", "list")
    assert milk("helper", "select", "recall", "2.0.0").code == 0
    assert '"2.0.0"' in milk("helper", "show", "recall").out
    assert [s["version"] for s in milk("helper", "versions", "recall", "--json").json] == ["2.0.0", "3.0.0", "2.0.0"]
    mine(home, BUILT.replace("1.0.0", "4.0.0"))
    assert '"4.0.0"' in milk("helper", "show", "recall").out


def test_the_last_50_selections_are_remembered(milk: Milk, home: Path) -> None:
    for number in range(52):
        mine(home, BUILT.replace("1.0.0", f"2.{number}"))
        milk("helper", "list")
    selections = milk("helper", "versions", "recall", "--json").json
    assert len(selections) == 50 and selections[0]["version"] == "2.51"


def test_a_broken_profile_is_named_with_its_line_and_stops_no_other(milk: Milk, home: Path) -> None:
    mine(home, BUILT.replace("max-hops", "max-hop"), "broken.md")
    ran = milk("helper", "list")
    line = next(n for n, text in enumerate(BUILT.split("\n"), start=1) if "max-hops" in text)
    assert f"broken.md:{line}: limits.max-hop is not known" in ran.err
    assert "recall-after-tools" in ran.out


def test_local_only_is_kept(milk: Milk, home: Path) -> None:
    record(milk)
    mine(home, BUILT.replace("locality: any", "locality: local-only"))
    config = home / "config" / "config.toml"
    config.write_text('[helper]\nruntime = "claude-cli"\ncommand = ["true"]\n')
    config.chmod(0o600)
    ran = milk("helper", "run", "--for", "s", PROMPT)
    assert ran.code == 1 and "local-only" in ran.err
