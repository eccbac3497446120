"""Which sentences of a prompt may state a fact worth keeping: rules in code around a small model's yes or no.

A small model that writes facts freely invents them; one that only says what kind of sentence it sees is
right far more often. So a fact is always a sentence of the person's own prompt: these rules propose
sentences, the model confirms one, and nothing else can be kept. The rules know English; of other languages
they let more through to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

MAX_FACT_CHARS = 200
MAX_CANDIDATES = 3
_SCANNED_CHARS = 4000
_MIN_WORDS = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of the prompt, without its lead-in."""

    text: str
    asked: bool
    """True when the person said to remember it."""
    sentence: str
    """The whole sentence as it stands in the prompt."""


def _starts_with(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|\n+")
_LEAD_IN = re.compile(
    r"^(?:(?:ok(?:ay)?|so|also|and|but|well|hi|hello|hey|btw|by the way|actually|oh|right)\b[,:!.]?\s+)+",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"^(?:please\s+)?(?:"
    r"(?:(?:always\s+)?remember|note|(?:keep|bear)\s+in\s+mind|(?:don'?t|do\s+not)\s+forget|be\s+aware|"
    r"you\s+should\s+know|for\s+(?:your|the)\s+(?:information|record)|fyi)\b(?:\s+that\b|\s*[:,–—-])?"
    r"|important\s*:)\s*",
    re.IGNORECASE,
)
_ASKED_AFTER = re.compile(
    r"(?:[,;–—-]|(?<!\s))\s*+(?:and\s+)?(?:so\s+)?(?:please\s+)?(?:remember|keep|bear|note)\s+(?:that|this|it)"
    r"(?:\s+in\s+mind)?\s*[.!]*$",
    re.IGNORECASE,
)
_NOT_A_STATEMENT = _starts_with(
    "how|what|why|when|where|who|whom|whose|which",
    "is|are|am|was|were|do|does|did|can|could|would|will|shall|should|may|might|to|if",
    "yes|no|nope|yep|thanks?|sorry|great|nice|cool|perfect|good|wow|hmm+",
    "now|then|next|first|again|please|let|lets|let's|here|there|still",
    "it|its|it's|this|that|that's|these|those|you|your",
    r"i\s+(?:think|guess|believe|want|need|would|wish|see|get|got|tried|mean|meant|was|wonder|hope)",
    r"i\s+(?:don'?t|didn'?t|do\s+not|did\s+not|can'?t|cannot|could|am\s+trying)",
    r"i\s+have\s+(?:an?\s+)?(?:error|problem|question|issue)",
    r"i'?m\s+(?:trying|getting|seeing|wondering|sorry|confused|stuck|looking)",
    r"i'?d|we\s+(?:need|want|should|could|must\s+now|have\s+to|can)",
)
_FOLLOW_UP = _starts_with(
    "now|then|no|nope|yes|yep|sure|again|still|instead|same|continue|go on|hmm+|why not|what about|how about",
    "it|that|this|these|those|they|them|thanks?|thank you|great|good|nice|cool|perfect|sorry|hi|hello|hey",
)
_ORDER_WORDS = """
    adapt add adjust adopt analyse analyze answer append apply archive arrange ask assess assign audit
    avoid begin book bring build bump calculate call cancel capture change check choose cite clarify
    clean close collect combine come comment commit compare compile complete compute condense configure
    confirm connect consider continue convert coordinate copy correct count cover create cut debug
    decide deduplicate define delegate delete demonstrate deploy describe design detect determine
    develop devise diagnose dig disable discuss display divide do document double download draft draw
    drop edit elaborate enable encode enforce ensure enumerate estimate evaluate execute expand explain
    export expose extend extract factor fetch figure fill filter find finish fix flag flatten follow
    fork format gather generate get give go grep group guess handle harden help hide highlight hunt
    identify implement import improve include increase indent inline insert inspect install integrate
    invent invert investigate invoice iterate join keep launch learn lint list load look loop lower make
    map match maximise maximize measure merge migrate minimise minimize mock modify monitor mount move
    name normalise normalize note notify open optimise optimize order organise organize outline parse
    paste patch perform pick plan point port prepare present print prioritise prioritize profile
    proofread propose prove provide publish pull push put query quote raise rank read rebase recommend
    record redesign reduce refactor reformat reject release remove rename reorder repeat rephrase
    replace reply report reproduce research resolve restart return reverse revert review reword rework
    rewrite rotate round run save say scaffold scale scan schedule search secure see select send set
    share shorten show shrink simplify simulate sketch skip solve sort speed spell split start stop
    store stress study submit subtract suggest sum summarise summarize switch tag take teach tell test
    think tidy tighten trace track transcribe transform translate trigger trim try tune turn type undo
    unify unzip update upgrade upload use validate verify view visualise visualize wait walk warn watch
    work wrap write zip
"""
_ORDERS = frozenset(_ORDER_WORDS.split())
_AFTER_A_NOUN = frozenset(
    ("is", "are", "was", "were", "has", "have", "had", "runs", "uses", "must", "should", "will", "can", "may")
)
_ASKING = frozenset(("how", "what", "why", "when", "where", "who", "which", "if", "whether"))
_MOMENTARY = re.compile(
    r"\b(?:again|any\s?more|right now|just now|at the moment|currently|today|broken|fail(?:s|ed|ing)?|"
    r"crash(?:es|ed|ing)?|(?:does|did)(?:n't| not) work|error|exception|traceback|stuck|hangs?|wrong|"
    r"still|yet|already|looks?|seems?|appears?|odd|strange|weird|missing|empty|slow|bug)\b",
    re.IGNORECASE,
)
_ABOUT_US = re.compile(r"\b(?:we|our|ours|my|mine|i|i'm|us)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.\-_/][^\W_]+)*")
_CODE_SIGNS = re.compile(r"[{}<>=;|\\$]|\w\(|::|->|^(?:def|class|import|from|return|const|function|sudo|pip|git)\s")


def candidates(prompt: str) -> tuple[Candidate, ...]:
    """At most ``MAX_CANDIDATES`` sentences that may be facts, those asked to be remembered first."""
    found: dict[str, Candidate] = {}
    sentences = _sentences(prompt[:_SCANNED_CHARS])
    if len(prompt) > _SCANNED_CHARS:
        del sentences[-1:]  # cut in its middle
    for sentence in sentences:
        candidate = _candidate(sentence)
        if candidate is not None:
            found.setdefault(candidate.text, candidate)
    return tuple(sorted(found.values(), key=lambda c: not c.asked)[:MAX_CANDIDATES])


def holds(fact: str, prompt: str) -> bool:
    """The last gate: one line, no question, short enough, and every word of it stands in the prompt."""
    said = {w.casefold() for w in _WORD.findall(prompt)}
    own = [w.casefold() for w in _WORD.findall(fact)]
    return (
        len(fact) <= MAX_FACT_CHARS
        and "\n" not in fact
        and not fact.endswith("?")
        and len(own) >= _MIN_WORDS
        and all(word in said for word in own)
    )


def without(prompt: str, stated: Iterable[Candidate]) -> str:
    """``prompt`` without those sentences."""
    for candidate in stated:
        prompt = prompt.replace(candidate.sentence, "", 1)
    return prompt.strip()


def is_follow_up(prompt: str) -> bool:
    """True when the prompt begins like a reaction, or like one that goes on with what was said before."""
    return _FOLLOW_UP.match(_LEAD_IN.sub("", prompt.strip())) is not None


def is_about_us(text: str) -> bool:
    """True when the speaker is in the sentence; the smallest model can't tell facts from remarks without it."""
    return _ABOUT_US.search(text) is not None


def _sentences(prompt: str) -> list[str]:
    """The sentences of the prose: no fenced or indented code, no quotations."""
    outside = _FENCE.split(prompt)[::2]
    lines = [line for part in outside for line in part.split("\n")]
    prose = "\n".join(line for line in lines if not line.startswith((">", "    ", "\t")))
    return [sentence.strip() for sentence in _SENTENCE_END.split(prose) if sentence.strip()]


def _candidate(sentence: str) -> Candidate | None:
    if sentence.endswith(("?", ":")):
        return None
    bare = _LEAD_IN.sub("", sentence).strip()
    text = _ASKED_AFTER.sub("", _ASKED.sub("", bare))
    asked = text != bare
    text = text.strip(" ,;-–—")
    words = _WORD.findall(text)
    if len(words) < _MIN_WORDS or len(text) >= MAX_FACT_CHARS or _NOT_A_STATEMENT.match(text):
        return None
    if _is_order([word.lower() for word in words[:3]]) or _CODE_SIGNS.search(text):
        return None
    if not asked and _MOMENTARY.search(text):
        return None
    return Candidate(text[0].upper() + text[1:] + ("" if text[-1] in ".!" else "."), asked, sentence)


def _is_order(first: list[str]) -> bool:
    """True for "port the parser", false for "port 8412 is the API's" and "test servers are in Lyon"."""
    return first[0] in _ORDERS and (first[1] in _ASKING or not _AFTER_A_NOUN & set(first[1:]))
