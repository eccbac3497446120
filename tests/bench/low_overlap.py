"""Are the facts that answer a prompt among the first five that an agent is given, by kind of prompt (``recall.md``)?

Our own data: 445 facts of twelve projects, 446 prompts. ``hit5`` is measured on what ``recall.for_leg`` gives, floor
and budgets included, with the facts of all projects in reach (the harder case); ``project`` is the same with a
session's own facts and the person's. ``none`` are prompts that no fact answers: how many of them are given something,
and how much.
"""

from __future__ import annotations

from statistics import mean
from typing import Any

from milk_tui import recall
from milk_tui.core.records import Percept, Role
from tests.bench import Options
from tests.bench._facts import Memory, labelled, lines, semantic

FIRST = 5


def run(options: Options) -> dict[str, Any]:
    result: dict[str, Any] = {}
    samples: dict[str, Any] = {}
    for reach, everywhere in (("", True), ("project_", False)):
        with labelled(everywhere=everywhere) as memory:
            found = _measure(memory, None)
            result |= {f"{reach}lexical_{key}": value for key, value in found.items()}
            try:
                with semantic(memory.store) as worker:
                    found = _measure(memory, worker)
                    result |= {f"{reach}minilm_{key}": value for key, value in found.items()}
            except RuntimeError as missing:
                result["skipped"] = f"MiniLM: {missing}"
    result["hit5_lexical"] = result["lexical_low_overlap"]
    result["hit5_minilm"] = result.get("minilm_low_overlap")
    return {**result, "samples": samples}


def _measure(memory: Memory, worker: recall.Semantic | None) -> dict[str, float]:
    facts = {fact["id"]: fact for fact in lines("facts.jsonl")}
    hits: dict[str, list[bool]] = {}
    noise: list[int] = []
    given_to_answerable: list[int] = []
    for query in lines("queries.jsonl"):
        wanted = {memory.ids[label] for label in query["relevant"]}
        only_escalation = any(facts[label]["consumer"] == "escalation" for label in query["relevant"])
        given = memory.store.read_sync(
            lambda conn, query=query, role=Role.ESCALATION if only_escalation else Role.PRIMARY: recall.for_leg(
                conn,
                role=role,
                session_id=memory.sessions[query["project"]],
                prompt=query["query"],
                semantic=worker,
            )
        )
        if wanted:
            hits.setdefault(query["kind"], []).append(_answered(wanted, given[:FIRST], memory.store))
            given_to_answerable.append(len(given))
        else:
            noise.append(len(given))
    scores = {kind.replace("-", "_"): round(mean(found), 3) for kind, found in hits.items()}
    return {
        **scores,
        "none_given": round(mean(bool(count) for count in noise), 3),
        "none_facts": round(mean(noise), 2),
        "facts_given": round(mean(given_to_answerable), 1),
    }


def _answered(wanted: set[str], given: list[Percept], store: Any) -> bool:
    """True when one of the wanted facts is there, or what it says stands beside the one that replaced it."""
    if any(fact.id in wanted for fact in given):
        return True
    with_asides = {fact.id for fact in given if fact.aside.startswith("was ")}
    if not with_asides:
        return False
    rows = store.read_sync(
        lambda conn: conn.execute(
            "select id, superseded_by, content from percepts where status = 'superseded'"
        ).fetchall()
    )
    asides = " ".join(fact.aside for fact in given)
    return any(row["id"] in wanted and row["content"][:100] in asides for row in rows)
