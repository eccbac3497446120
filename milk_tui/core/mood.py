"""In what way a sentence says what it says: only what is stated can take another fact's place. Questions, quotes and
suppositions only add (``recall.md``, "Writing a fact", 5).

English in full, German, French, Spanish, Russian and Chinese as far as the common words go.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Mood(StrEnum):
    STATED = "stated"
    ASKED = "asked"
    SUPPOSED = "supposed"
    """A wish, a plan, a possibility: it isn't so yet."""
    TENTATIVE = "tentative"
    """Said with a doubt: enough to ask the person, not to retire."""
    QUOTED = "quoted"
    """Someone else's words."""
    PAST = "past"
    """How it was."""
    HAPPENED = "happened"
    """An event: another one of its kind doesn't undo it."""


def _any_of(*lines: str) -> str:
    return "|".join(part for line in lines for part in line.split(" | "))


def _compiled(*lines: str, around: str = r"\b(?:{})\b") -> re.Pattern[str]:
    return re.compile(around.format(_any_of(*lines)), re.IGNORECASE)


_ASKED = re.compile(
    r"\?\s*[\"'”»)]?\s*$|^\s*¿"
    r"|^\s*(?:should|could|shall|can|do|does|did|would|is|are|was) (?:we|i|it|you|they|there)\b"
    r"|^\s*(?:open question|question|frage|pregunta)\s*:"
    r"|\b(?:unclear|undecided|open question|not sure|unsure|unknown) (?:if|whether|which|what|how)\b"
    r"|\bwonder(?:s|ed|ing)? (?:if|whether)\b|\basked (?:if|whether|why|how|what|which)\b",
    re.IGNORECASE,
)
_TENTATIVE = _compiled(
    r"might | maybe | perhaps | possibly | probably | presumably | apparently | seems? | seemingly | likely",
    r"looks like",
    r"i (?:think|believe|guess|suspect|assume) | (?:pretty|not|fairly) sure | as far as i know | afaik | iirc",
    r"vielleicht | wahrscheinlich | vermutlich | peut-être | quizás? | tal vez | probablement | probablemente",
    r"наверное | возможно",
    around=r"\b(?:{})\b|也许|可能|大概",
)
_SUPPOSED = _compiled(
    r"potentially | could | would | hypothetical\w{0,4} | suppose | assuming | imagine | what if",
    r"(?:if|once) (?:we|they|i|you)",
    r"considers? | considered | considering | consideration | think\w{0,3} (?:about|of) | contemplat\w{1,4}",
    r"propos(?:e|es|ed|al|als|ing) | suggest(?:s|ed|ion|ions|ing)? | idea | unless | once the",
    r"plans? to | planned to | planning | plan(?:s|ned)? (?:for|on) | intend(?:s|ed)? to | intention",
    r"wants? to (?:move|switch|migrate|replace|change|try|drop|use) | want to | wish(?:es)? to",
    r"hop(?:e|es|ing) to | would like",
    r"evaluat(?:e|es|ed|ing|ion) | investigat(?:e|es|ed|ing) | explor(?:e|es|ed|ing) | discuss(?:es|ed|ing|ion)?",
    r"debat(?:e|es|ed|ing) | experiment\w{0,4} | prototyp\w{1,4} | proof of concept | poc | spike",
    r"try(?:ing)? to | tr(?:y|ies|ied) out | eventually | some ?day | one day | in the future | long[ -]term",
    r"roadmap | wishlist",
    r"next (?:quarter|year|month|week|sprint|release|major) | later this (?:year|month|week|quarter) | soon",
    r"tomorrow | upcoming",
    r"will (?:be |probably |likely |soon |eventually )?"
    r"(?:move|migrate|switch|replace|change|drop|rename|upgrade|deprecat|become)\w{0,2}",
    r"going to (?:be )?[a-z]+ | about to | scheduled (?:to|for)",
    r"may (?:move|switch|migrate|be replaced|be dropped|change)",
    r"könnten? | würden? | eventuell | überleg\w{1,4} | geplant | planen | plant | möglicherweise",
    r"pourrait | pourraient | envisag\w{1,5} | prévoit | podría\w? | planea\w? | posiblemente",
)
_QUOTED = _compiled(
    r"says? | said | claims? | claimed | wrote | writes | argue[sd]? | reckons? | believe[sd]? | thinks?",
    r"thought | joked",
    r"complain\w{0,3} | mentions? | mentioned | recommend(?:s|ed)? | advises? | advised | according to",
    r"quote[sd]? | quoting",
    r"rumou?rs? | heard | allegedly | supposedly | reportedly",
    r"(?:article|blog|post|docs?|documentation|readme|manual|comment|ticket|tutorial|book|video|message|e-?mail)"
    r" (?:reads?|states?)",
    r"(?:error|banner|output|console|warning|page|dialog|string|title|label|line|test|example) "
    r"(?:reads?|prints?|shows?|contains?):? [\"“„«'‘]",
    r"sagte? | meint(?:e)? | laut | behauptet | selon | dit que | según | dice que | dijo que",
    around=r"^\s*[\"“„«'‘].*[\"”“»'’]\.?\s*$|\b(?:{})\b",
)
_THE_PERSON_SAYS = re.compile(
    r"\b(?:the )?(?:user|person|owner|we|i|team)\s(?:also |now |has |have |had )?"
    r"(?:said|says|say|wants?|wrote|mentioned|confirmed|believes?|thinks?|recommends?)\b",
    re.IGNORECASE,
)
_PAST = _compiled(
    r"used to | previously | formerly | originally | initially | at first | historically | in the past",
    r"back (?:in|then|when)",
    r"once was | had been | until (?:\w+ ){0,4}(?:\d|we|it|the|last|recently|then|may|june|july)",
    r"before the (?:\w+ )?(?:migration|move|switch|rewrite|upgrade|change|merge|split)",
    r"früher | ursprünglich | damals | bis (?:\w+ )?\d | autrefois | auparavant | à l'époque | anteriormente",
    r"antes",
)


def mood(text: str, said: str, *, changed: bool = False, past: bool = False) -> Mood:
    """The mood of a text. ``said`` is its main clause; ``changed``: it has a cue, so that what was is the lesser part
    of it; ``past``: its verb is.
    """
    if _ASKED.search(text):
        return Mood.ASKED
    if _TENTATIVE.search(said):
        return Mood.TENTATIVE
    if _SUPPOSED.search(said):
        return Mood.SUPPOSED
    told_by_person = _THE_PERSON_SAYS.search(text) is not None
    if _QUOTED.search(text) and not told_by_person:
        return Mood.QUOTED
    if changed:
        return Mood.STATED
    if _PAST.search(said):
        return Mood.PAST
    return Mood.HAPPENED if past and not told_by_person else Mood.STATED
