"""What a prompt names reaches the agents, now and when the thread is given again (``ux.md``, ``@``)."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from milk_tui.core.attachments import Kind, Mention, mentions
from milk_tui.core.records import Role
from milk_tui.engine import events
from milk_tui.engine.attaching import read
from milk_tui.store import attachments
from tests.engine.conftest import Stage

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def project(stage: Stage) -> Path:
    return Path(stage.conductor.session.directory)


def requests(stage: Stage) -> list[dict]:
    return [json.loads(line) for line in stage.record.read_text().splitlines()]


def newest(request: dict) -> str:
    return json.dumps(request["messages"][-1], ensure_ascii=False)


async def test_a_file_that_is_named_goes_with_the_prompt_and_stays_in_the_thread(stage: Stage) -> None:
    (project(stage) / "app.py").write_text("answer = 42\n")
    turn = await stage.say("what is in @app.py? SCN:say 42")
    (project(stage) / "app.py").write_text("answer = 43\n")
    await stage.say("and now SCN:say ok")

    first, second = requests(stage)
    assert "answer = 42" in newest(first) and "[File attached: app.py" in newest(first)
    assert "answer = 42" in json.dumps(second["messages"][:-1]) and "answer = 43" not in json.dumps(second)
    kept = (await stage.read(lambda conn: attachments.of_turns(conn, [turn])))[turn]
    assert [(a.kind, a.name, a.note) for a in kept] == [(Kind.FILE, "app.py", "1 line")]


async def test_some_lines_of_a_file(stage: Stage) -> None:
    (project(stage) / "long.txt").write_text("\n".join(f"line {n}" for n in range(1, 50)))
    await stage.say("see @long.txt:7-8 SCN:say ok")

    assert "line 7\\nline 8\\n[End" in newest(requests(stage)[0])


async def test_what_is_not_there_is_said_when_it_looks_like_a_path_and_sent_as_text(stage: Stage) -> None:
    await stage.say("ask @alice about @nowhere/x.py SCN:say ok")

    said = [e.text for e in stage.of(events.Notice)]
    assert any("nowhere/x.py" in text for text in said) and not any("alice" in text for text in said)
    assert "@nowhere/x.py" in newest(requests(stage)[0])


async def test_an_image_goes_as_an_image_and_again_with_the_thread(stage: Stage) -> None:
    (project(stage) / "shot.png").write_bytes(PNG)
    await stage.say("what is on @shot.png? SCN:say a pixel")
    await stage.say("sure? SCN:say yes")

    first, second = requests(stage)
    [image, text] = first["messages"][-1]["content"]
    assert image["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert "[Image attached: shot.png" in text["text"]
    assert "image_url" in json.dumps(second["messages"][:-1])


async def test_a_model_that_takes_no_images_is_told_and_so_is_the_person(stage: Stage) -> None:
    (project(stage) / "shot.png").write_bytes(PNG)
    await stage.say("look at @shot.png SCN:err 400 SCN:message this model does not support image input")

    assert any("takes no images" in e.text for e in stage.of(events.LegNotice))
    assert "image_url" not in json.dumps(requests(stage)[-1])
    assert "can't see images" in json.dumps(requests(stage)[-1])


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda p: p.write_bytes(b"\0\1\2" * 100), "binary"),
        (lambda p: os.mkfifo(p), "is no file"),
        (lambda p: p.symlink_to("/dev/null"), "is no file"),
        (lambda p: os.truncate(p, 9_000_000) if p.touch() is None else None, "too much"),
        (lambda p: p.symlink_to(p), ""),
    ],
)
def test_what_is_no_readable_file_is_refused_with_a_reason(tmp_path: Path, make, why: str) -> None:
    make(tmp_path / "x.bin")
    attached, problems = read(tmp_path, [Mention(path="x.bin")])

    assert attached == [] and len(problems) == 1 and why in problems[0]


def test_a_folder_is_attached_as_its_list(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "f.txt").touch()
    [folder], _ = read(tmp_path, mentions("see @d/"))

    assert (folder.kind, folder.text, folder.note) == (Kind.FOLDER, "e/\nf.txt", "2 entries")


def test_escapes_in_a_file_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("a\x1b[31mb\x1b]0;t\x07")
    [file], _ = read(tmp_path, [Mention(path="x.txt")])

    assert "\x1b" not in file.text and file.text.startswith("ab")


def test_together_they_are_bounded(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text("word " * 20_000)
    attached, problems = read(tmp_path, [Mention(path=f"{number}.txt") for number in range(6)])

    assert sum(len(each.text) for each in attached) < 170_000
    assert problems


async def test_an_agent_that_can_take_no_images_is_told_and_the_person_too(stage: Stage) -> None:
    (project(stage) / "shot.png").write_bytes(PNG)
    agent = stage.workspace.roster.agents[Role.PRIMARY]
    agent.caps = replace(agent.caps, images=False)
    await stage.say("look at @shot.png SCN:say no")

    assert "image_url" not in newest(requests(stage)[0]) and "can't see images" in newest(requests(stage)[0])
    assert any("takes no images" in e.text for e in stage.of(events.LegNotice))
