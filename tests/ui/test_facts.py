"""Facts on the screen: seen, pinned, forgotten and brought back, filtered, explained (issue 2, point 12)."""

from __future__ import annotations

QUEUE = "SCN:tag percept parcels wait in the depot hall SCN:tag percept prices are integers SCN:say ok"


async def test_pin_forget_and_undo_by_key(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(QUEUE)
        await desk.sees("SESSION 2")
        await desk.idle()
        facts = desk.app.main.sidebar.pane.facts
        facts.focus()
        await desk.press("p")
        await desk.sees("★ PINNED 1", "SESSION 1")
        await desk.press("p")
        await desk.sees("SESSION 2")
        await desk.press("x")
        await desk.sees("forgotten, u undoes", "SESSION 1")
        await desk.press("u")
        await desk.sees("SESSION 2")
        await desk.gone("forgotten, u undoes")


async def test_a_click_on_a_key_of_the_footer_does_it_with_the_fact(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/learn the shop sells milk")
        await desk.sees("SESSION 1")
        desk.app.main.sidebar.pane.facts.focus()
        await desk.sees("p pin")
        await desk.pilot.click("#footer", offset=(desk.text.split("\n")[-1].index("p pin"), 0))
        await desk.sees("★ PINNED 1")


async def test_pin_forget_and_undo_by_command(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say("/learn the shop sells milk")
        await desk.sees("the shop sells milk", "remembered #")
        percept_id = next(iter(desk.app.state.percepts.values())).short_id
        await desk.say(f"/pin {percept_id}")
        await desk.sees("★ PINNED 1")
        await desk.say(f"/forget {percept_id}")
        await desk.sees("forgotten, u undoes")
        await desk.say("/restore")
        await desk.gone("forgotten, u undoes")
        await desk.say("/forget #ffffff")
        await desk.sees("There is no fact #ffffff")


async def test_a_secret_is_refused_and_can_be_kept_on_purpose(open_desk) -> None:
    async with open_desk() as desk:
        secret = "the key is sk-ant-api03-" + "a1B2" * 12
        await desk.say(f"/learn {secret}")
        await desk.until(lambda: desk.app.main.box.query_one("#prompt-note").display, "a refusal")
        assert not desk.app.state.percepts
        await desk.say(f"/learn !{secret}")
        await desk.until(lambda: desk.app.state.percepts, "kept")


async def test_the_filter_finds_as_one_types_and_escape_shows_all_again(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(QUEUE)
        await desk.sees("SESSION 2")
        await desk.idle()
        desk.app.main.sidebar.pane.facts.focus()
        await desk.press("slash", *"prices")
        await desk.sees("for “prices”")
        assert desk.app.main.sidebar.pane.facts.percept.content == "prices are integers"
        await desk.press("enter")
        await desk.until(lambda: desk.app.main.sidebar.pane.facts.has_focus)
        await desk.press("escape")
        await desk.gone("for “prices”")
        await desk.sees("SESSION 2")


async def test_details_tell_where_a_fact_is_from_and_lead_there(open_desk) -> None:
    async with open_desk() as desk:
        await desk.say(QUEUE)
        await desk.sees("SESSION 2")
        await desk.idle()
        for number in range(8):
            await desk.say(rf"filler {number} SCN:repeat 8 line\n\n")
            await desk.idle()
        assert "▌ SCN:tag" not in desk.text
        desk.app.main.sidebar.pane.facts.focus()
        await desk.press("enter")
        await desk.sees("stated by qwen (primary)", "WEIGHT OVER TIME", "captured by primary", "in turn")
        await desk.press("home", "enter")
        await desk.sees("▌ SCN:tag percept parcels")


async def test_the_full_list_lives_too(open_desk) -> None:
    async with open_desk((80, 24)) as desk:
        await desk.press("f2")
        await desk.sees("memory · 0 facts", "nothing remembered yet")
        await desk.app.control.conductor.learn("a fact from elsewhere")
        await desk.sees("memory · 1 fact", "a fact from elsewhere")
        await desk.press("p")
        await desk.sees("★ PINNED 1")
        await desk.press("f2")
        await desk.sees("Ask, or / for commands")
