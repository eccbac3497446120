"""Recall on LoCoMo (Maharana et al., 2024): are the facts and the turns that answer a question found (``recall.md``)?

``--set data=PATH`` names the file of conversations, which is not part of this repository; without it the benchmark is
skipped with a line that says so. A conversation is one session in a database of its own, an utterance one turn, an
observation one fact with its turn; the two speakers are the session's agents. Recall is the share of a question's
evidence among the first ten, averaged over all questions that have evidence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milk_tui import recall
from milk_tui.core.records import AgentName, Producer, Role
from milk_tui.store import Store, percepts
from tests.bench import Options
from tests.bench._facts import folder, semantic, session, turn

FIRST = 10
INJECTION_BYTES = 2_000

_ID = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Conversation:
    speakers: tuple[str, str]
    utterances: list[tuple[str, str, str]]
    """Id, speaker, text."""
    facts: list[tuple[str, frozenset[str], str]]
    """Text, ids of the utterances that it comes from, speaker."""
    questions: list[tuple[str, frozenset[str]]]


def run(options: Options) -> dict[str, Any]:
    path = Path(options.extra.get("data", ""))
    if not path.is_file():
        return {"skipped": f"no LoCoMo file at {path}: --set data=PATH", "samples": []}
    conversations = list(_conversations(json.loads(path.read_text(encoding="utf-8"))))
    if options.quick:
        conversations = conversations[:1]
    tallies: dict[str, Tally] = {}
    for conversation in conversations:
        _measure(conversation, tallies)
    result: dict[str, Any] = {"conversations": len(conversations), "questions": tallies["facts_lexical"].count}
    for name, tally in tallies.items():
        result |= tally.figures(name)
    return {**result, "samples": []}


class Tally:
    """Sums over questions."""

    def __init__(self) -> None:
        self.count = 0
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, **values: float) -> None:
        self.count += 1
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value
            self._counts[name] = self._counts.get(name, 0) + 1

    def figures(self, prefix: str) -> dict[str, float]:
        return {f"{prefix}_{name}": round(total / self._counts[name], 4) for name, total in self._sums.items()}


def _measure(conversation: Conversation, tallies: dict[str, Tally]) -> None:
    with folder() as path:
        store = Store.open(path / "milk.db")
        try:
            session_id, origin, said = store.write_sync(lambda db: _learn(db, conversation))
            _ask(store, session_id, conversation, origin, said, None, tallies)
            try:
                with semantic(store) as worker:
                    _ask(store, session_id, conversation, origin, said, worker, tallies)
            except RuntimeError:
                return
        finally:
            store.close()


def _learn(db: Any, conversation: Conversation) -> tuple[str, dict[str, frozenset[str]], dict[int, str]]:
    first, second = conversation.speakers
    session_id = session(
        db,
        "/talk",
        (
            AgentName(role=Role.PRIMARY, name=first, model="person", nonce="abc123"),
            AgentName(role=Role.ESCALATION, name=second, model="person", nonce="xyz789"),
        ),
    )
    at = {
        label: turn(db, session_id, f"{speaker}: {text}", 1_000 * number)
        for number, (label, speaker, text) in enumerate(conversation.utterances, start=1)
    }
    origin = {}
    for text, labels, speaker in conversation.facts:
        known = [label for label in sorted(labels, key=lambda label: at.get(label, 0)) if label in at]
        fact = percepts.add(
            db,
            content=text,
            producer=Producer.PRIMARY if speaker == first else Producer.ESCALATION,
            session_id=session_id,
            turn_id=at[known[0]] if known else None,
        ).percept
        origin[fact.id] = origin.get(fact.id, frozenset()) | labels
    return session_id, origin, {turn_id: label for label, turn_id in at.items()}


def _ask(
    store: Store,
    session_id: str,
    conversation: Conversation,
    origin: dict[str, frozenset[str]],
    said: dict[int, str],
    worker: recall.Semantic | None,
    tallies: dict[str, Tally],
) -> None:
    kind = "minilm" if worker else "lexical"
    facts, injection, moments = (
        tallies.setdefault(f"{what}_{kind}", Tally()) for what in ("facts", "injection", "turns")
    )
    answerable = frozenset().union(*origin.values())
    for question, evidence in conversation.questions:
        ranked = store.read_sync(
            lambda conn, question=question: recall.why(conn, question, session_id=session_id, semantic=worker)
        )
        order = [origin[item.percept.id] for item in sorted(ranked.items, key=lambda item: -item.score)]
        facts.add(recall10=_share(evidence, order), mrr=_reciprocal(evidence, order))
        hits = store.read_sync(
            lambda conn, question=question: recall.turns(conn, question, session_id=session_id, semantic=worker)
        )
        order = [frozenset({said[hit.turn_id]}) for hit in hits]
        moments.add(recall10=_share(evidence, order), mrr=_reciprocal(evidence, order))
        if not evidence & answerable:
            continue
        given = store.read_sync(
            lambda conn, question=question: (
                recall.why(conn, question, session_id=session_id, semantic=worker, max_bytes=INJECTION_BYTES).given
            )
        )
        inside = frozenset().union(*(origin[fact.id] for fact in given))
        injection.add(any=bool(evidence & inside), share=len(evidence & inside) / len(evidence), facts=len(given))


def _share(evidence: frozenset[str], order: list[frozenset[str]]) -> float:
    return len(evidence & frozenset().union(*order[:FIRST])) / len(evidence)


def _reciprocal(evidence: frozenset[str], order: list[frozenset[str]]) -> float:
    return next((1 / rank for rank, labels in enumerate(order, start=1) if labels & evidence), 0.0)


def _conversations(records: list[dict[str, Any]]) -> Iterator[Conversation]:
    for record in records:
        talk = record["conversation"]
        utterances = []
        number = 1
        while (key := f"session_{number}") in talk:
            utterances += [(each["dia_id"], each["speaker"], _text(each)) for each in talk[key]]
            number += 1
        yield Conversation(
            speakers=(talk["speaker_a"], talk["speaker_b"]),
            utterances=utterances,
            facts=[
                (text, _ids(labels), speaker)
                for said in record["observation"].values()
                for speaker, observations in said.items()
                for text, labels in observations
            ],
            questions=[
                (each["question"], _ids(each.get("evidence"))) for each in record["qa"] if _ids(each.get("evidence"))
            ],
        )


def _text(utterance: dict[str, Any]) -> str:
    """What was said, with what a shared picture shows."""
    return " ".join(filter(None, (utterance["text"], utterance.get("blip_caption", ""))))


def _ids(value: Any) -> frozenset[str]:
    return frozenset(f"D{int(a)}:{int(b)}" for a, b in _ID.findall(json.dumps(value or "")))
