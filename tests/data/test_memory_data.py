"""The labelled data of ``tests/data/memory`` keeps its own rules (``tests/data/memory/README.md``)."""

import json
import re
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "memory"
KINDS = {"same-words": 50, "paraphrase": 50, "identifier": 50, "temporal": 50, "low-overlap": 50, "none": 25}
PRODUCERS = {"user", "primary", "escalation", "helper", "system"}
SHARES = {"supersede": 0.35, "suspect": 0.15, "confirm": 0.15, "add": 0.35}
COMMON = """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by can cannot could did do does doing don down during each else few for from further get go had has have having
    he her here hers him his how i if in into is isn it its itself just let like ll make may me might more most must my
    no nor not now of off on once only or other our ours out over own per please put re same say shall she should so
    some such t than that the their them then there these they this those through to too under until up upon us use
    used uses using ve very was we were what when where which while who whom whose why will with won would yes yet you
    your yours s d m
    der die das und ist im den dem des ein eine nicht wer wo wann bis oder zu
    la le les de des du un une et est sur sans pour quel quelle quels quelles en au aux dans
    """
STOP_WORDS = frozenset(COMMON.split())
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
SECRET_SHAPES = re.compile(
    r"AKIA[0-9A-Z]{16}|ghp_\w{30}|github_pat_\w{30}|glpat-[\w-]{20}|xox[bp]-\d|hooks\.slack\.com/services|[sr]k_live_\w{20}"
    r"|AIza[\w-]{35}|GOCSPX-|sk-proj-\w|sk-ant-api|hf_\w{30}|npm_\w{30}|pypi-AgE|SG\.[\w-]{20}|dop_v1_\w|shpat_\w|lin_api_\w"
    r"|dapi[0-9a-f]{30}|hvs\.\w{20}|AGE-SECRET-KEY-1|BEGIN [A-Z]* ?PRIVATE KEY|AccountKey=\w|eyJhbGciOi"
)
HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def stem(word: str) -> str:
    """The word without the commonest English endings; words of other scripts as they are."""
    if word.isdigit() or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ings", "ing", "edly", "ed", "es", "s", "ly", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl" else word


def content_words(text: str) -> set[str]:
    """What a text is about: stemmed words without stop words, pairs of characters where a script has no spaces."""
    text = text.lower().replace("’", "'")
    found: set[str] = set()
    for run in UNSPACED.findall(text):
        found |= {run[i : i + 2] for i in range(len(run) - 1)} or {run}
    for word in re.findall(r"[^\W_]+", UNSPACED.sub(" ", text)):
        if word not in STOP_WORDS and (len(word) > 1 or word.isdigit()):
            found.add(stem(word))
    return found


FACTS = {fact["id"]: fact for fact in rows("facts")}
QUERIES = rows("queries")


def shared(query: Row, fact_id: str) -> set[str]:
    return content_words(query["query"]) & content_words(FACTS[fact_id]["content"])


@pytest.mark.parametrize("name", ["facts", "queries", "currency_seen", "currency_unseen", "safety"])
def test_every_line_is_one_object_with_an_id_of_its_own(name: str) -> None:
    ids = [row["id"] for row in rows(name)]

    assert len(ids) == len(set(ids))


def test_there_are_enough_facts_with_all_fields() -> None:
    assert len(FACTS) >= 400
    for fact in FACTS.values():
        assert set(fact) == {
            "id",
            "content",
            "project",
            "source",
            "context",
            "created",
            "producer",
            "consumer",
            "superseded_by",
            "language",
        }
        assert fact["content"] and fact["source"] and len(fact["content"]) <= 2000, fact["id"]
        assert fact["producer"] in PRODUCERS and fact["consumer"] in {"all", "primary", "escalation"}, fact["id"]
        assert not HIDDEN.search(fact["content"] + fact["source"] + fact["context"]), fact["id"]
    assert sum(not fact["context"] for fact in FACTS.values()) <= 5


def test_facts_say_different_things_over_about_fourteen_months() -> None:
    days = sorted(date.fromisoformat(fact["created"]) for fact in FACTS.values())

    assert len({fact["content"].casefold() for fact in FACTS.values()}) == len(FACTS)
    assert 400 <= (days[-1] - days[0]).days <= 460


def test_facts_cover_several_projects_scripts_and_many_identifiers() -> None:
    languages = Counter(fact["language"] for fact in FACTS.values())
    identifiers = [
        f for f in FACTS.values() if re.search(r"`[^`]{4,}`|\w/\w+/|0x\w+|:\d{4}|\d+\.\d+\.\d+|\w_\w", f["content"])
    ]

    assert len({fact["project"] for fact in FACTS.values()}) >= 8
    assert set(languages) == {"en", "de", "fr", "ru", "zh", "ja", "ar"}
    assert sum(count for language, count in languages.items() if language != "en") >= 25
    assert len(identifiers) >= 30


def test_a_fact_is_superseded_only_by_a_later_one_of_its_project() -> None:
    links = [fact for fact in FACTS.values() if fact["superseded_by"]]

    assert len(links) >= 40
    for old in links:
        new = FACTS[old["superseded_by"]]
        assert new["created"] > old["created"] and new["project"] == old["project"], old["id"]


def test_there_are_enough_queries_of_each_kind() -> None:
    kinds = Counter(query["kind"] for query in QUERIES)

    assert len(QUERIES) >= 250 and set(kinds) == set(KINDS)
    assert all(kinds[kind] >= least for kind, least in KINDS.items()), kinds
    assert len({query["query"].casefold() for query in QUERIES}) == len(QUERIES)


def test_queries_point_to_facts_of_their_project() -> None:
    projects = {fact["project"] for fact in FACTS.values()}
    for query in QUERIES:
        assert set(query) == {"id", "query", "relevant", "kind", "project"} and query["project"] in projects
        assert bool(query["relevant"]) == (query["kind"] != "none"), query["id"]
        assert set(query["relevant"]) <= set(FACTS), query["id"]
        if query["relevant"]:
            assert FACTS[query["relevant"][0]]["project"] == query["project"], query["id"]


def test_only_temporal_queries_are_answered_by_superseded_facts() -> None:
    of_the_past = [q for q in QUERIES if any(FACTS[i]["superseded_by"] for i in q["relevant"])]

    assert {query["kind"] for query in of_the_past} == {"temporal"}
    assert len(of_the_past) >= 30


def test_same_words_queries_share_three_content_words_with_their_fact() -> None:
    for query in QUERIES:
        if query["kind"] == "same-words":
            assert len(shared(query, query["relevant"][0])) >= 3, query


def test_low_overlap_queries_share_at_most_one_content_word_with_any_of_their_facts() -> None:
    for query in QUERIES:
        if query["kind"] == "low-overlap":
            assert all(len(shared(query, fact)) <= 1 for fact in query["relevant"]), query


def test_identifier_queries_share_a_word_with_each_of_their_facts() -> None:
    for query in QUERIES:
        if query["kind"] == "identifier":
            assert all(shared(query, fact) for fact in query["relevant"]), query


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_a_half_of_the_currency_pairs_has_the_agreed_shares(half: str) -> None:
    pairs = rows(f"currency_{half}")
    labels = Counter(pair["label"] for pair in pairs)

    assert len(pairs) >= 150 and set(labels) == set(SHARES)
    for label, share in SHARES.items():
        assert abs(labels[label] / len(pairs) - share) <= 0.03, (label, labels[label])


@pytest.mark.parametrize("half", ["seen", "unseen"])
def test_currency_pairs_have_all_fields_and_keep_the_guard(half: str) -> None:
    fields = {"id", "old", "new", "old_producer", "new_producer", "pinned", "label", "why"}
    for pair in rows(f"currency_{half}"):
        assert set(pair) == fields and isinstance(pair["pinned"], bool), pair["id"]
        assert pair["old"] and pair["new"] and pair["old"] != pair["new"] and pair["why"], pair["id"]
        assert {pair["old_producer"], pair["new_producer"]} <= PRODUCERS, pair["id"]
        if pair["label"] == "supersede" and pair["new_producer"] != "user":
            assert not pair["pinned"] and pair["old_producer"] != "user", pair["id"]


def test_the_two_halves_share_no_sentence() -> None:
    seen, unseen = (
        {text.casefold() for p in rows(f"currency_{half}") for text in (p["old"], p["new"])}
        for half in ("seen", "unseen")
    )

    assert not seen & unseen


def test_safety_cases_cover_every_channel_and_outcome() -> None:
    cases = rows("safety")
    outcomes = Counter(case["expect"] for case in cases)

    assert len(cases) >= 90
    assert {case["channel"] for case in cases} == {"tag", "tool", "import", "web", "file", "user", "recalled-echo"}
    assert set(outcomes) == {"refused", "quarantined", "tainted", "stored", "confirmed"}
    assert outcomes["stored"] >= 25 and sum(case["why"].startswith("secret:") for case in cases) >= 25


def test_safety_cases_have_known_fields_only() -> None:
    optional = {"repeat": int, "grow": int, "memory": list, "stored_as": str, "must": dict, "accept": list}
    for case in rows("safety"):
        assert {"id", "channel", "text", "expect", "why"} <= set(case), case["id"]
        assert all(isinstance(case[field], kind) for field, kind in optional.items() if field in case), case["id"]
        assert set(case) <= {"id", "channel", "text", "expect", "why", *optional}, case["id"]
        assert case["expect"] not in case.get("accept", []), case["id"]
        assert set(case.get("must", {})) <= {"pinned", "producer", "retired", "retired_per_write"}, case["id"]
        assert ("{n}" in case["text"]) <= ("repeat" in case), case["id"]


def test_an_echo_has_something_that_it_repeats() -> None:
    for case in rows("safety"):
        if case["expect"] == "confirmed" or case["channel"] == "recalled-echo":
            assert case["memory"], case["id"]


@pytest.mark.parametrize("name", ["facts", "queries", "currency_seen", "currency_unseen", "safety"])
def test_the_files_themselves_hold_no_secret_and_nothing_hidden(name: str) -> None:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")

    assert not SECRET_SHAPES.search(text)
    assert not HIDDEN.search(text)


def test_decoding_gives_the_secrets_back() -> None:
    shapes = {match.group()[:6] for case in rows("safety") for match in SECRET_SHAPES.finditer(case["text"])}

    assert len(shapes) >= 20
