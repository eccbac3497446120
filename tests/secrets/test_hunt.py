"""Keys are planted in prompts, answers, tool results, errors, the config and the environment; then everything that the
program keeps or says is searched.

The rule. *Keys that the program uses*: nowhere. *Keys that a person types, or a tool or a model shows*: in the
conversation and nowhere else, that is in its prompts, answers, calls with their results, attachments, and the prompts'
history and index; never in facts, needs, perception, titles, summaries, receipts, the agents' memories, logs or
errors, and in an exported file only when that was asked for.
"""

from __future__ import annotations

import io
import logging
import os
import stat
from pathlib import Path

import pytest

from milk_tui import safe_log
from milk_tui.core.records import Session
from milk_tui.engine import session_export, session_html
from milk_tui.engine.launch import Launch
from milk_tui.store import Store
from tests.e2e.conftest import Place, place
from tests.engine.conftest import begin, home, launch
from tests.secrets.hunt import in_database, in_files
from tests.secrets.keys import KEYS, drawn

__all__ = ["home", "launch", "place"]

CONVERSATION = {
    "turns.prompt",
    "legs.text",
    "legs.thinking",
    "tool_calls.arguments",
    "tool_calls.result",
    "attachments.text",
    "prompt_history.text",
    "sessions.draft",
}
"""What a conversation's own text may hold, and its index (``…_fts``)."""


def is_conversation(column: str) -> bool:
    return column in CONVERSATION or column.startswith(("messages_fts", "messages_"))


OWN = {
    "OPENAI_API_KEY": "sk" + "-proj-" + drawn(60),
    "HIDDEN_LLM": drawn(32, seed=3),
    "GIT_TOKEN": drawn(40, seed=4),
}


@pytest.mark.parametrize("name", OWN)
def test_a_key_of_the_program_is_nowhere_whoever_says_it(place: Place, name: str) -> None:
    key = OWN[name]
    place.write_config('[agents.fast]\nmodel = "openai/fast"\napi_key_env = "HIDDEN_LLM"\n')
    (place.project / ".env").write_text(f"KEY={key}\n")
    place.replies(
        rf"SCN:err 401 SCN:message Incorrect API key provided: {key}. See https://x.example/?key={key}",
        rf"SCN:say The key is {key}, it SCN:chunk 3 SCN:say is {key}. SCN:think I saw {key}",
        r'SCN:tool read_file {"path": ".env"}',
        "SCN:say read",
        rf"SCN:say half {key} SCN:fail bad key {key}",
        rf'SCN:tool record_memory {{"fact": "the key is {key}"}} SCN:tool set_need {{"need": "use {key}"}}',
        "SCN:say done",
    )
    said = ""
    for prompt in ("first", "second", "third", "fourth", "fifth"):
        ran = place.run("--debug", "--primary", "fast", "--continue", "-p", prompt, **OWN)
        said += ran.err
        assert ran.code in (0, 1)
    for command in (["doctor"], ["config", "show"], ["sessions", "show"], ["memory", "list"], ["route", "x"]):
        ran = place.run(*command, **OWN)
        said += ran.out + ran.err
    for form in ("md", "html", "json"):
        said += place.run("sessions", "export", "--with-secrets", "--to", "-", "--format", form, **OWN).out
    assert key not in said
    assert in_files(place.home, key) == []
    assert in_database(place.database, key) == set()


async def test_a_key_that_somebody_shows_stays_in_the_conversation(launch: Launch, home: Path) -> None:
    stage = await begin(launch, home)
    project = Path(stage.conductor.session.directory)
    for number in range(0, len(KEYS), 7):
        some = KEYS[number : number + 7]
        (project / f"{number}.env").write_text("\n".join(key.text for key in some))
        said = " ".join(f"{key.text} ." for key in some)
        await stage.say(f"remember {said}")
        await stage.say(f'SCN:tool read_file {{"path": "{number}.env"}} SCN:then SCN:say it holds them')
    for key in KEYS:
        one_line = key.text.replace("\n", "\\n")
        await stage.say(
            f"SCN:tag percept we use {one_line} SCN:tag need use {one_line} SCN:tag frame decided: {one_line}"
            f" SCN:tag working next: {one_line} SCN:tag escalate because {one_line} SCN:say noted {one_line}"
        )
    store, session = stage.conductor.store, stage.conductor.session
    masked_files = exported(store, session, secrets=False)
    whole_files = exported(store, session, secrets=True)
    await stage.workspace.aclose()
    found = {key.name: in_database(store.path, key.secret) for key in KEYS}
    assert all("turns.prompt" in columns for columns in found.values())
    wrong = {name: bad for name, columns in found.items() if (bad := {c for c in columns if not is_conversation(c)})}
    assert wrong == {}
    for key in KEYS:
        elsewhere = [path for path in in_files(home / "home", key.secret) if not path.startswith("data/milk.db")]
        assert elsewhere == [], key.name
        assert all(key.secret not in text and key.secret.replace("\n", "\\n") not in text for text in masked_files)
    assert sum(KEYS[0].secret in text for text in whole_files) == 3


def exported(store: Store, session: Session, *, secrets: bool) -> list[str]:
    texts = []
    for write in (session_export.markdown, session_html.html):
        out = io.StringIO()
        write(out, session, session_export.conversation(store, session.id), secrets=secrets)
        texts.append(out.getvalue())
    out = io.StringIO()
    said = session_export.conversation(store, session.id)
    session_export.as_json(out, store, session, said, secrets=secrets)
    return [*texts, out.getvalue()]


def test_every_file_that_is_made_is_for_its_owner_alone_whatever_the_umask(place: Place) -> None:
    before = os.umask(0)
    try:
        with place.open() as screen:
            screen.wait_for("to ● fast", 60)
            screen.send("SCN:tag percept Ports are odd SCN:say Noted.")
            screen.press("enter")
            screen.wait_for("Noted.")
            screen.press("ctrl+q")
            screen.wait_exit()
        assert place.run("memory", "export", str(place.home / "facts.jsonl")).code == 0
        assert place.run("sessions", "export", "--to", str(place.home / "session.html")).code == 0
    finally:
        os.umask(before)
    made = [place.home, *place.home.rglob("*")]
    wide = {str(path.relative_to(place.root)): f"{stat.S_IMODE(path.lstat().st_mode):04o}" for path in made
            if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not stat.S_ISSOCK(path.lstat().st_mode)}  # fmt: skip
    assert wide == {}
    assert len(made) > 6


def test_a_traceback_and_a_logged_error_name_no_key(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", OWN["GIT_TOKEN"])
    out = io.StringIO()
    logger = logging.Logger("milk_tui.test")
    handler = logging.StreamHandler(out)
    handler.setFormatter(safe_log.SafeFormatter(safe_log.FORMAT))
    logger.addHandler(handler)
    try:
        raise ValueError(f"bad key {OWN['GIT_TOKEN']}, {KEYS[2].secret}")
    except ValueError:
        logger.exception("asking with %s failed", KEYS[3].secret)
    told = out.getvalue()
    assert "ValueError: bad key •" in told
    for key in (OWN["GIT_TOKEN"], KEYS[2].secret, KEYS[3].secret):
        assert key not in told
