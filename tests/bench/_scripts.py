"""Long scripted sessions with planted facts: three pieces of work of 156 turns with tool noise and reversed decisions.

The agent in a script keeps the perception as the protocol asks, with two exceptions that every script has: one fact it
records as a percept, and one it writes down nowhere. Values are words that stand nowhere else, so that a text can be
asked whether it holds them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

TURNS = 156
PROBES = (78, TURNS)
"""After which turns every fact is asked for."""
EARLIEST = 25
"""Turns that must have passed since a fact was said before it is asked for."""


@dataclass(frozen=True, slots=True)
class Said:
    """A fact as somebody says it in a turn, and what stands for it: ``value`` is the word that answers the question."""

    turn: int
    prompt: str
    value: str
    entry: str = ""
    """The agent's line in the frame; empty: it is not written there."""
    percept: str = ""
    """The agent's percept."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is asked later; said once, or reversed by the second."""

    question: str
    said: tuple[Said, ...]

    def holds(self, turn: int) -> Said | None:
        """What is true after that turn, when it was said long enough ago."""
        known = [said for said in self.said if said.turn <= turn]
        return known[-1] if known and turn - known[-1].turn >= EARLIEST else None

    def stale(self, turn: int) -> tuple[str, ...]:
        """Values that were true before."""
        known = [said for said in self.said if said.turn <= turn]
        return tuple(said.value for said in known[:-1])


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: str
    result: str
    ok: bool = True


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One prompt, what tools brought, the answer, and what the agent wrote beside it."""

    number: int
    prompt: str
    calls: tuple[Call, ...]
    answer: str
    frame: str = ""
    working: str = ""
    percept: str = ""
    deep: bool = False
    """The escalation agent works on it."""


@dataclass(frozen=True, slots=True)
class Script:
    name: str
    goal: str
    facts: tuple[Fact, ...]
    parts: tuple[str, ...]
    """What the work is about, a word for a file each."""
    seed: int

    def turns(self) -> Iterator[ScriptTurn]:
        """The session, the same each time."""
        draw = random.Random(self.seed)
        said = {each.turn: each for fact in self.facts for each in fact.said}
        for number in range(1, TURNS + 1):
            yield self._turn(draw, number, said.get(number))

    def _turn(self, draw: random.Random, number: int, said: Said | None) -> ScriptTurn:
        part, other = draw.sample(self.parts, 2)
        file = f"src/{part}.py"
        prompt = said.prompt if said else draw.choice(_PROMPTS).format(part=part, other=other)
        calls = tuple(_call(draw, part, other) for _ in range(draw.randint(0, 2)))
        frame = ""
        if number == 1:
            frame = f"slice: {self.name}\nstory: {self.goal}"
        elif said and said.entry:
            frame = said.entry
        return ScriptTurn(
            number=number,
            prompt=prompt,
            calls=calls,
            answer="Noted." if said else draw.choice(_ANSWERS).format(part=part, other=other, file=file),
            frame=frame,
            working=f"file: {file}\nnext: {draw.choice(_NEXT).format(part=part, other=other)}",
            percept=said.percept if said else "",
            deep=number in (40, 41, 110, 111),
        )


def _call(draw: random.Random, part: str, other: str) -> Call:
    kind = draw.randrange(4)
    if kind == 0:
        body = "\n".join(f"    {draw.choice(_CODE).format(part=part, other=other)}" for _ in range(draw.randint(3, 7)))
        return Call("read_file", f'{{"path":"src/{part}.py"}}', f"def {part}(self, {other}):\n{body}")
    if kind == 1:
        hits = [f"src/{draw.choice((part, other))}.py:{draw.randint(3, 400)}: {part}({other})" for _ in range(4)]
        return Call("grep", f'{{"pattern":"{part}"}}', "\n".join(hits))
    passed, failed = draw.randint(3, 60), draw.choice((0, 0, 0, 1, 2))
    told = f"{failed} failed, {passed} passed" if failed else f"{passed} passed"
    return Call(
        "run_command", f'{{"command":"pytest -q tests/test_{part}.py"}}', f"{'.' * passed}\n{told} in 0.{passed}s"
    )


_PROMPTS = (
    "Now look at {part} and say why it calls {other} twice.",
    "The test of {part} is slow. Make it faster without touching {other}.",
    "Rename the helper in {part}; {other} must not notice.",
    "Does {part} still need the argument that {other} passes?",
    "Please write the missing test for {part} with an empty {other}.",
    "Clean up {part}: the branch for {other} is dead.",
)
_ANSWERS = (
    "{part} calls {other} once to check and once to work. I removed the check: the work checks by itself.",
    "The test waited for {other}. It now waits for the event that {part} sends, and takes a tenth of the time.",
    "Renamed in {file} and in the two places that use it. All tests pass.",
    "No: {part} reads it and drops it. I took it out of the signature and out of the call in {other}.",
    "Written. An empty {other} makes {part} return early, which the test now states.",
    "Done. The branch was dead since {other} raises by itself; {file} is eleven lines shorter.",
)
_NEXT = (
    "look at {other} for the same mistake",
    "run the whole suite again",
    "write down how {part} and {other} work together",
    "remove what {part} no longer needs",
)
_CODE = (
    "if not {other}: return None",
    "{part}_result = self.{part}.get({other}.id)",
    "self.log.debug('{part} done')",
    "return {part}_result or {other}.default",
    "for item in {other}.items(): self.add(item)",
    "assert {other}.ready, '{part} came too early'",
)

SCRIPTS = (
    Script(
        name="double-charge",
        goal="No customer is charged twice when the payment provider times out.",
        seed=11,
        parts=("handler", "retry", "queue", "ledger", "basket", "gateway", "receipt"),
        facts=(
            Fact(
                "Which database keeps the orders? Answer with its name.",
                (
                    Said(
                        4,
                        "We keep the orders in Postgres, because the reports need joins.",
                        "Postgres",
                        "decided order store: orders are kept in Postgres [reason: reports need joins]",
                    ),
                    Said(
                        52,
                        "The write load is too high for one machine: from now on the orders are kept in ScyllaDB.",
                        "ScyllaDB",
                        "decided order store: orders are kept in ScyllaDB [reason: write load]",
                    ),
                ),
            ),
            Fact(
                "On which port does the billing service listen? Answer with the number.",
                (
                    Said(
                        9,
                        "The billing service listens on port 7431, the firewall allows no other.",
                        "7431",
                        "constraints billing port: the billing service listens on port 7431 [reason: firewall]",
                    ),
                    Said(
                        97,
                        "Operations moved it: the billing service listens on port 8862 now.",
                        "8862",
                        "constraints billing port: the billing service listens on port 8862"
                        " [reason: operations moved it]",
                    ),
                ),
            ),
            Fact(
                "Into which region do we deploy? Answer with the city.",
                (
                    Said(
                        13,
                        "We deploy to Frankfurt only, the contracts say so.",
                        "Frankfurt",
                        "constraints region: deploy to Frankfurt only [reason: contracts]",
                    ),
                ),
            ),
            Fact(
                "Which team answers questions about refunds?",
                (
                    Said(
                        17,
                        "When something about refunds is unclear, ask the team Kestrel.",
                        "Kestrel",
                        percept="Questions about refunds are answered by the team Kestrel.",
                    ),
                ),
            ),
            Fact(
                "What is the name of the test account at the payment provider?",
                (Said(21, "By the way, our test account at the payment provider is called quillback.", "quillback"),),
            ),
        ),
    ),
    Script(
        name="offline-notes",
        goal="Notes that are written without a connection are sent when it comes back.",
        seed=23,
        parts=("worker", "outbox", "merge", "clock", "banner", "editor", "cursor"),
        facts=(
            Fact(
                "Who wins when a note was changed in two places? Answer with one word.",
                (
                    Said(
                        5,
                        "When a note was changed in two places, the server wins, that is easy to explain.",
                        "server",
                        "decided conflicts: the server wins [reason: easy to explain]",
                    ),
                    Said(
                        60,
                        "People lost text. When a note was changed in two places, the newest edit wins.",
                        "newest",
                        "decided conflicts: the newest edit wins [reason: people lost text]",
                    ),
                ),
            ),
            Fact(
                "After how many seconds is sending tried again? Answer with one word.",
                (
                    Said(
                        10,
                        "Try sending again after ninety seconds, the radio needs that long.",
                        "ninety",
                        "decided retry delay: try again after ninety seconds [reason: the radio needs that long]",
                    ),
                    Said(
                        101,
                        "The new radio is faster: try sending again after twenty seconds.",
                        "twenty",
                        "decided retry delay: try again after twenty seconds [reason: the new radio is faster]",
                    ),
                ),
            ),
            Fact(
                "Which Android is the oldest that we support? Answer with its name.",
                (
                    Said(
                        14,
                        "The oldest Android that we support is Nougat, the schools have old tablets.",
                        "Nougat",
                        "constraints platform: the oldest supported Android is Nougat [reason: old tablets in schools]",
                    ),
                ),
            ),
            Fact(
                "Which compression is used for the outbox?",
                (
                    Said(
                        18,
                        "The outbox is compressed with brotli, I measured it last year.",
                        "brotli",
                        percept="The outbox is compressed with brotli.",
                    ),
                ),
            ),
            Fact(
                "What is the code name of the next release?",
                (Said(22, "Marketing calls the next release Marigold, just so you know.", "Marigold"),),
            ),
        ),
    ),
    Script(
        name="better-search",
        goal="People find articles also when they misspell a word of the title.",
        seed=37,
        parts=("indexer", "ranker", "tokens", "suggest", "crawler", "snippet", "facets"),
        facts=(
            Fact(
                "How are words cut for the index? Answer with one word.",
                (
                    Said(
                        6,
                        "For the index we cut words into trigrams, that finds most misspellings.",
                        "trigrams",
                        "decided index pieces: words are cut into trigrams [reason: finds most misspellings]",
                    ),
                    Said(
                        56,
                        "That index is too large. For the index we cut words into syllables instead.",
                        "syllables",
                        "decided index pieces: words are cut into syllables [reason: size of the index]",
                    ),
                ),
            ),
            Fact(
                "Which format do search answers have? Answer with its name.",
                (
                    Said(
                        11,
                        "Search answers are sent as protobuf, the app reads it already.",
                        "protobuf",
                        "decided answer format: answers are sent as protobuf [reason: the app reads it]",
                    ),
                    Said(
                        99,
                        "Partners can't read that. Search answers are sent as msgpack.",
                        "msgpack",
                        "decided answer format: answers are sent as msgpack [reason: partners can't read the old one]",
                    ),
                ),
            ),
            Fact(
                "On which weekday is the index rebuilt?",
                (
                    Said(
                        15,
                        "The index is rebuilt on Sunday, nobody searches then.",
                        "Sunday",
                        "constraints rebuild: the index is rebuilt on Sunday [reason: nobody searches then]",
                    ),
                ),
            ),
            Fact(
                "Which language is left out of the index?",
                (
                    Said(
                        19,
                        "Leave Icelandic out of the index, those articles are being moved.",
                        "Icelandic",
                        percept="Icelandic is left out of the index while its articles are being moved.",
                    ),
                ),
            ),
            Fact(
                "What is the staging cluster called?",
                (Said(24, "The staging cluster is called Obsidian, if you ever need it.", "Obsidian"),),
            ),
        ),
    ),
)
