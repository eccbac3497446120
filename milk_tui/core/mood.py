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
_CHANGE = r"(?:move|migrate|switch|replace|change|drop|rename|upgrade|deprecate|become|use|try|adopt|introduce|rewrite)"
_SUPPOSED = _compiled(
    r"potentially | could | would | hypothetically | suppose | assuming | imagine | what if | if (?:we|they|i|you)",
    r"(?:is|are|am|was|were|be|been|we'?re|they'?re|i'?m) (?:still |also |now |just )?(?:considering|evaluating"
    r"|exploring|investigating|discussing|debating|contemplating|planning|proposing|thinking (?:about|of)|toying with"
    r"|looking into)",
    r"(?:plan(?:s|ned)?|intend(?:s|ed)?|hop(?:e|es|ed)|wish(?:es|ed)?) to | want to | would like",
    rf"wants? to {_CHANGE} | (?:try|tries|trying) to",
    r"(?:consider(?:s|ed)?|propos(?:e|es|ed)|suggest(?:s|ed)?|discuss(?:es|ed)?|evaluat(?:e|es|ed))"
    r" (?:\w+ing|to|that|whether)",
    r"(?:the|one|an|another) (?:idea|proposal|plan|suggestion|option) (?:is|was|would be) to",
    rf"(?:will|going to|about to|scheduled to|may) (?:be |probably |likely |soon |eventually )?{_CHANGE}d?",
    r"will be moved | some ?day | in the future | eventually(?! consistent)",
    r"könnten? | würden? | ist geplant | (?:wir|sie|er|man) (?:planen|plant|überleg\w{1,3}) | möglicherweise",
    r"pourrait | pourraient | envisag\w{1,5} | prévoit | podría\w? | planea\w? | posiblemente",
)
_QUOTED = _compiled(
    r"says? | said | claim(?:s|ed) that | claimed",
    r"(?:wrote|writes|mentions|believes?|thinks?|thought):? (?:that|[\"“«„])",
    r"argue[sd]? | reckons? | joked | complain(?:s|ed) | mentioned | recommends | advise[sd] | according to",
    r"quoting",
    r"quoted (?:from|as) | rumou?rs? | heard | allegedly | supposedly | reportedly",
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
    r"used to | previously | formerly | originally | historically | in the past | back (?:in|then|when) | once was",
    r"had been | before the (?:\w+ )?(?:migration|move|switch|rewrite|upgrade|change|merge|split)",
    r"ursprünglich | damals | autrefois | auparavant | à l'époque | anteriormente",
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
    if _PAST.search(said) or (past and "until" in said.casefold()):
        return Mood.PAST
    return Mood.HAPPENED if past and not told_by_person else Mood.STATED
