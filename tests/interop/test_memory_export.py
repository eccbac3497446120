"""What leaves the program as a file."""

from __future__ import annotations

import io

import msgspec
import pytest

from milk_tui.core.records import PerceptScope, Producer, Role
from milk_tui.interop import memory_export
from milk_tui.store import percepts
from tests.interop.makers import NOW, add, exported, parsed, rich, take
from tests.store.makers import make_leg, make_session, make_turn


def markdown(store, **more) -> str:
    out = io.BytesIO()
    store.read_sync(lambda conn: memory_export.markdown(conn, out, **{"everything": True, "now": NOW, **more}))
    return out.getvalue().decode()


def written(store, **more) -> memory_export.Written:
    return store.read_sync(lambda conn: memory_export.jsonl(conn, io.BytesIO(), **{"everything": True, **more}))


def contents(data: bytes) -> list[str]:
    return [line["content"] for line in map(msgspec.json.decode, data.splitlines()) if line["milk"] == "fact"]


def test_the_same_memory_gives_the_same_bytes(store):
    rich(store)
    assert exported(store) == exported(store)


def test_by_default_what_holds_in_a_session_and_for_all(store):
    facts = rich(store)
    shop = facts["old"].session_id
    held = contents(exported(store, everything=False, session_id=shop))
    assert "we use ScyllaDB" in held
    assert "the port is 8412" in held
    assert "the worker runs at noon" in held
    for not_held in ("we use Postgres", "Retries are in the queue"):
        assert not_held not in held
    of_shop = contents(exported(store, everything=True, session_id=shop))
    assert "we use Postgres" in of_shop
    assert "nobody needs this" not in of_shop
    assert len(contents(exported(store))) == 14


def test_an_edge_to_a_fact_that_is_not_in_the_file_is_left_out(store):
    facts = rich(store)
    for line in map(msgspec.json.decode, exported(store, everything=False).splitlines()):
        if line.get("id") == facts["new"].id:
            assert "edges" not in line
    parsed(store, exported(store, everything=False))


def test_a_fact_of_an_answer_that_runs_is_none_yet(store, session):
    leg = make_leg(store, make_turn(store, session))
    store.write_sync(lambda db: percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="half said"))
    assert contents(exported(store)) == []


def test_no_nonce_is_in_a_file_wherever_it_was_stored(store, session):
    nonce = session.agent(Role.PRIMARY).nonce
    fact = add(store, "a fact", session)
    leg = make_leg(store, make_turn(store, session, f"what is {nonce}? or x{nonce}y"))

    def plant(db):
        percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="said then")
        percepts.make_live(db, leg.id)
        db.execute("update percepts set content = ?, subject = ? where id = ?", (f"is {nonce}", nonce, fact.id))
        db.execute("update percept_events set note = ?, undo = ?", (nonce, f'{{"content": "was {nonce}"}}'))
        db.execute("update sessions set title = ?, directory = ?", (nonce, f"/work/{nonce}"))

    store.write_sync(plant)
    for text in (exported(store).decode(), markdown(store)):
        assert nonce not in text
        assert "••••••" in text
    parsed(store, exported(store))


def test_the_words_of_a_moment_with_a_secret_in_them_stay_here(store, session):
    leg = make_leg(store, make_turn(store, session, "use the key sk-ant-api03-" + "a1B2" * 10))

    def stage(db):
        percepts.stage(db, leg_id=leg.id, producer=Producer.PRIMARY, content="the key is in the vault")
        percepts.make_live(db, leg.id)

    store.write_sync(stage)
    assert written(store).left_out == 0, "what looks like a key is masked as it is kept"
    assert b"sk-ant" not in exported(store)
    kept_before_that = "use the key sk-ant-api03-" + "a1B2" * 10
    store.write_sync(lambda db: db.execute("update percepts set source = ?", [kept_before_that]))
    assert written(store).left_out == 1
    assert b"sk-ant" not in exported(store)
    assert contents(exported(store)) == ["the key is in the vault"]


def test_secrets_that_the_person_kept_are_counted(store, session):
    kept = add(store, "the key is AKIAIOSFODNN7EXAMPLE", session, allow_secret=True)
    edited = add(store, "another is AKIAIOSFODNN7EXAMPLF", session, allow_secret=True)
    store.write_sync(lambda db: percepts.edit(db, edited.id, "another is in the vault"))
    assert kept.id != edited.id
    assert written(store).secrets == 2, "its history has it too"


def test_markdown_is_grouped_and_says_who_said_it_and_when(store):
    facts = rich(store)
    text = markdown(store)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings[:3] == ["# What milk remembers", "## Pinned", "## In every session"]
    assert headings[-2:] == ["## No longer true", "## Forgotten"]
    assert "## In “Double “charge”” (/work/shop)" in headings
    short = facts["pinned"].short_id
    assert f"- deploys happen on \\*Tuesdays\\* *(you · {memory_export._day(facts['pinned'].created_ms)} · " in text
    assert f"only for escalation · 1.00 · {short})*" in text
    assert "~~we use Postgres~~ → we use ScyllaDB" in text
    assert "\\<b\\>x\\</b\\>" in text
    assert "remember to obey" not in text


def test_markdown_of_an_empty_memory_is_readable(store):
    assert "0 facts" in markdown(store)


def test_what_markdown_shows_as_true_is_read_again_word_for_word(store, other_store):
    rich(store)
    report = take(other_store, markdown(store), "facts.md")
    held = set(contents(exported(store, everything=False)))
    secret = {"the key is AKIAIOSFODNN7EXAMPLE"}
    assert report.refused == len(secret & held)
    assert set(contents(exported(other_store))) == held - secret


@pytest.mark.parametrize("hostile", ["a\x1b[2Jb", "x" * 2_000, "- [ ] # `"])
def test_a_title_is_one_line_whatever_it_is(store, hostile):
    session = make_session(store, title=hostile)
    add(store, "a fact", session, scope=PerceptScope.SESSION)
    text = markdown(store)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 400
    parsed(store, exported(store))
