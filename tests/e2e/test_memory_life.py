"""Facts from session to session: what the end of one does to them, and what the person sees of it."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Place
from tests.e2e.looking import ask, leave, wait_in

pytestmark = pytest.mark.e2e


def facts(place: Place, *arguments: str) -> dict[str, tuple[int, str]]:
    listed = place.run("memory", "list", "--json", *arguments).json
    return {fact["content"]: (fact["weight"], fact["scope"]) for fact in listed}


def test_leaving_ends_the_session_for_memory_and_the_next_start_says_what_changed(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, "first: SCN:tag percept The worker runs at night SCN:say n\\x6fted")
        wait_in(screen, "conversation", "noted", " out")
        ask(screen, "/learn Deploys happen on Tuesdays")
        wait_in(screen, "percepts", "Deploys happen on Tuesdays")
        leave(screen)
    place.wait_alone()
    assert facts(place) == {"Deploys happen on Tuesdays": (800, "global"), "The worker runs at night": (600, "session")}
    with place.open() as screen:
        screen.wait_for("1 fact became global")
        leave(screen)
    place.wait_alone()
    assert facts(place)["The worker runs at night"] == (600, "session"), "nothing was asked since"


def test_a_new_session_has_what_the_one_before_made_global_and_says_so(place: Place) -> None:
    with place.open() as screen:
        screen.wait_for("to ● fast")
        ask(screen, "first: SCN:say h\\x69 there")
        wait_in(screen, "conversation", "hi there", " out")
        ask(screen, "/learn Deploys happen on Tuesdays")
        wait_in(screen, "percepts", "Deploys happen on Tuesdays")
        screen.press("ctrl+n")
        screen.wait_for("1 fact became global")
        wait_in(screen, "percepts", "Deploys happen on Tuesdays")
        leave(screen)


def test_a_memory_goes_from_one_machine_to_another(place: Place) -> None:
    (place.project / "CLAUDE.md").write_text("# Shop\n\nThis is a monorepo.\n\n- the team is in Graz\n")
    assert place.ask("-p", "hello SCN:say hi").code == 0
    assert place.run("memory", "import", "CLAUDE.md").out.startswith("2 facts imported from CLAUDE.md.")
    assert len(place.run("memory", "approve", "--imported").out.splitlines()) == 2
    before = facts(place)
    assert place.run("memory", "export", "--all", "backup.jsonl").code == 0
    other = Place(place.root / "other")
    other.project.mkdir(parents=True)
    restored = other.run("memory", "import", "--restore", str(place.project / "backup.jsonl"))
    assert restored.out.startswith("2 facts restored")
    assert facts(other, "--all") == before
