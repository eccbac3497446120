"""The wordings by which ``core.cues`` recognises a change; data only.

A pattern's groups ``a``, ``b`` and ``c`` are the cue's own words, ``old`` is what it names as the old, at most five
words.
A name in angle brackets stands for an entry of ``_WORDS``.
"""

from __future__ import annotations

import re

from msgspec import Struct

from milk_tui.core.cue_languages import GERMAN_CHANGE, OTHER_LANGUAGES

_WORDS: dict[str, str] = {
    "old": (
        r"(?:the |our |a |an |its |der |die |das |den |dem |le |la |les |l'|el |los |las )?"
        r"(?P<old>[^\s,;:!?()]{1,80}(?:\s[^\s,;:!?()]{1,80}){0,4}?)"
    ),
    "first": r"(?<![^\s(\"“'])",
    "end": (
        r"(?=[\"”'’]?(?:\s*(?:[,;:!?()]|\.(?:\s|$)|$)|\s(?:and|but|because|since|so|as|now|for|in|on|at|when"
        r"|while|last|this"
        r"|which|that|to|with|by|into|everywhere|und|weil|für|et|pour|y|para|по|для|[-–—])\b))"
    ),
    "gap": r"(?:\s[^\s,;.]{1,80}){0,8}?",
    "change": (
        r"(?:migrated|moved|renamed|re-?branded|switched|changed|converted|ported|transitioned|transferred"
        r"|upgraded|downgraded|raised"
        r"|increased"
        r"|lowered|reduced|bumped|cut|decreased|extended|shortened|relocated|adjusted|grew|grown|shrank|shrunk|rose"
        r"|risen|fell|fallen|dropped|doubled|halved|tripled|quadrupled|resized|updated|rewritten|rewrote"
        r"|refactored|reworked|redesigned|shifted|swapped|flipped"
        r"|handed(?: over)?|re-?assigned|re-?scheduled|postponed|delayed|pushed(?: back)?|brought forward|reset"
        r"|modified"
        r"|came down|jumped|trimmed|tightened|relaxed|loosened|widened|narrowed|promoted|demoted|evolved|replaced"
        r"|turned|crept|slipped|climbed|enlarged|expanded|broadened|stretched|slashed|scaled|lengthened|upped)"
    ),
    "habit": r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bgets )(?<!\bget )",
    "gone": (
        r"(?:drop(?:ped)?(?! off| by| in )|remov(?:e|ed)|abandon(?:ed)?|retired?|discontinued|sunsetted"
        r"|deprecated?|ditch(?:ed)?"
        r"|phas(?:ed|es) out|decommission(?:ed)?|eliminated|shut down|uninstall(?:ed)?|killed|deleted"
        r"|scrap(?:ped)?|gave up"
        r"|got rid of|did away with|stopped (?:using|with)|stop using|quit|left|forget|cancell?ed|abolished"
        r"|revoked|lifted"
        r"|withdrew|unplugged|parted with|ripped out"
        r"|ended|terminated"
        r"|(?:took|pulled|ripped|threw) (?:down|out)|moved on from|said goodbye to|outgrew|tore out"
        r"|sold|gave away|threw away)"
    ),
    "be": r"(?:is|are|was|were|has been|have been|had been|got|gets|being|been)",
    "ended": (
        r"(?:gone|retired|dead|read-only|history|obsolete|deprecated|uninstalled|decommissioned|discontinued"
        r"|switched off|turned off|no more|over(?!\s\w)|out(?!\s\w)|unused|finished|abolished|unplugged"
        r"|abandoned|sunset)"
    ),
    "removed": (
        r"(?:dropped|removed|shut down|deleted|cancell?ed|scrapped|killed|axed|ditched|phased out|thrown out|taken down"
        r"|withdrawn|revoked|lifted|eliminated|given up|stopped|closed)"
    ),
    "point": (
        r"(?:\S*\d\S*|today|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july"
        r"|august"
        r"|september|october|november|december|(?:the |last |this )?(?:week|month|sprint|year|spring|summer"
        r"|autumn|fall|winter"
        r"|redesign|migration|upgrade|release|move|rewrite|switch|merge|update|incident|audit|refactoring"
        r"|relaunch|rework))"
    ),
    "german": GERMAN_CHANGE,
}

_TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "from",
        "from",
        r"\b(?P<a><change>|went|gone)\b(?:(?<!\bwent)(?<!\bgone)<gap>"
        r"|)\s(?P<b>(?:away )?from)\s<old>\s(?P<c>(?:over )?(?:in)?to|onto)\b",
    ),
    ("from", "from", r"\b(?P<a><change>)\b<gap>\s(?P<b>(?:in)?to|onto)\s(?:\S{1,40}\s){1,4}?(?P<c>from)\s<old><end>"),
    ("from", "from", r"\b(?P<a>from)\s<old>\s(?P<b>(?:in)?to)\b(?=.{0,60}\b<change>\b)"),
    (
        "from",
        "hand pass gave transfer",
        r"<first><old>\s(?P<a>handed(?: over)?|passed(?: on)?|gave"
        r"|transferred)\b<gap>\s(?P<b>(?:over )?to)\b",
    ),
    ("from", "→ -> =>", r"<first>(?P<old>[\w./:-]{1,60})\s?(?P<a>→|->|=>)\s?"),
    (
        "renamed",
        "named brand called known goes",
        r"<first><old>\s(?P<a><be> (?:now )?(?:renamed|re-?branded)|is now (?:called|named|known as)"
        r"|now goes by)\b",
    ),
    ("renamed", "called named", r"<first><old>\s(?P<a>is (?:called|named))\s\S{1,60}\s(?P<b>since|from|as of)\b"),
    ("renamed", "named brand", r"\b(?P<a>renamed|re-?branded)\s(?:from\s)?<old>\s(?P<b>to|into|as)\b"),
    (
        "renamed",
        "formerly previously",
        r"\b(?P<a>formerly|previously known as|formerly known as)\s(?:called |named )?<old><end>",
    ),
    (
        "replaced",
        "replaced superseded swapped exchanged substituted succeeded",
        r"<first><old>\s(?P<a><be> (?:now |since |recently )?(?:replaced|superseded|swapped(?: out)?"
        r"|exchanged|substituted|succeeded))\s(?P<b>by|with|for)\b",
    ),
    ("replaced", "took takes", r"\b(?P<a>t(?:akes?|ook))\s(?:\S{1,40}\s){1,4}?(?P<b>over from)\s<old><end>"),
    ("replaced", "way yielded", r"<first><old>\s(?P<a>made way for|gave way to|has given way to|yielded to)\b"),
    (
        "replaced",
        "replac swap supersed exchang trade substitut tak took succeed",
        r"\b(?P<a>replac(?:ed|es|ing)|swapp?(?:ed)?(?: out)?|supersed(?:ed|es)|exchanged|traded(?: in)?"
        r"|substituted|t(?:akes?|ook) over from|t(?:akes?|ook) the place of|succeed(?:s"
        r"|ed))\s<old>(?:\s(?P<b>with|by|for)\b|<end>)",
    ),
    (
        "replaced",
        "instead rather place lieu opposed",
        r"\b(?P<a>instead of|rather than|in place of|in lieu of|as opposed to)\s(?:using |with |on |in "
        r"|to |at |by |from |via |through )?<old><end>",
    ),
    (
        "replaced",
        "not",
        r"(?P<a>,\s?(?:and )?not)\s(?:with |on |in |to |at |by |from |via )?<old>(?=\s*(?:any ?more"
        r"|any longer)?\s*(?:[,;!]|\.?$|\.\s))",
    ),
    (
        "dropped",
        "",
        r"<habit>(?<!\bwas )(?<!\bwere )(?<!\bbeen )(?<!\bgot )\b(?P<a><gone>)\s<old>(?:\s(?P<b>in favou?r of"
        r"|for)\b|<end>)",
    ),
    (
        "dropped",
        "away off out",
        r"<habit>\b(?P<a>(?:moved|switched|migrated|went|got|transitioned) (?:away|off|out)(?: from"
        r"| of)?)\s<old>(?:\s(?P<b>in favou?r of|onto|into|to)\b|<end>)",
    ),
    (
        "dropped",
        "",
        r"<first><old>\s(?P<a><be>\s(?:now |completely |finally |officially )?<ended>)\b"
        r"(?:\s(?P<b>in favou?r of|for)\b)?",
    ),
    (
        "dropped",
        "was were been got now",
        r"<first><old>\s(?P<a>(?:was|were|has been|have been|had been|got|is now|are now)\s"
        r"(?:completely |finally |officially )?<removed>)\b(?:\s(?P<b>in favou?r of|for)\b)?",
    ),
    ("dropped", "bye", r"\b(?P<a>goodbye|bye),?\s<old><end>"),
    (
        "no longer",
        "no ya mehr nicht больше",
        r"\b(?P<a>no longer|no more|not any ?more|nicht mehr|nicht länger|ya no|больше не"
        r"|не\s\S{1,30}\sбольше)\b",
    ),
    ("no longer", "any", r"\b(?P<a>any ?more|any longer)\b"),
    ("no longer", "ceased stopped", r"\b(?P<a>ceased to|stopped|has stopped|have stopped)\s(?=\w{1,30}ing\b)"),
    ("became", "to", r"<habit>\b(?P<a><change>)\b<gap>\s(?P<b>(?:over |back |up |down |forward )?to|onto|into)\b"),
    ("became", "by", r"<habit>\b(?P<a>raised|increased|lowered|reduced|cut|extended|shortened|decreased)\s(?P<b>by)\b"),
    ("became", "on", r"\b(?P<a>standardi[sz]ed|settled|consolidated)\s(?P<b>on)\b"),
    (
        "became",
        "back up down over",
        r"\b(?P<a>went|gone|came|jumped|moved|shot|turned)\s(?P<b>(?:back|up|down|over)(?: to| by)?)\b",
    ),
    (
        "became",
        "becam becom stands over",
        r"\b(?P<a>became|becomes|has become|have become|now stands at|t(?:ook|akes|aken) over(?: as)?)\b",
    ),
    (
        "became",
        "new latest updated revised",
        r"\b(?P<a>(?:the|our|its|their|my) (?:new|latest|updated|revised))\s(?=\S{1,40}(?:\s\S{1,40}){0,4}\s(?:is"
        r"|are)\b)",
    ),
    ("became", ": ,", r"^(?P<a>(?:correction|update|erratum|edit|korrektur|actualización|mise à jour)\s?[:,])"),
    (
        "now",
        "now these henceforth meanwhile today",
        r"\b(?P<a>(?<!for )(?<!right )(?<!until )(?<!by )now(?! and then)|nowadays|these days|from now on"
        r"|henceforth|meanwhile|as of (?:now|today))\b",
    ),
    (
        "now",
        "as starting effective since beginning",
        r"\b(?P<a>(?:as of|starting|effective|since|beginning)(?: with| on| in| the| version| release"
        r"| firmware){0,4}(?: next| last| this)?\s<point>(?:\s(?:on|onwards?)\b)?)(?=[\s.,;]|$)",
    ),
    ("now", "from", r"\b(?P<a>from(?: the| version| release| firmware){0,3}\s<point>\s(?:on|onwards?)),?\s"),
    ("now", "instead", r"\b(?P<a>instead)(?=\s*[.,;]|\s*$)"),
    (
        "became",
        "rewr rebuil rew reimpl redo remade",
        r"\b(?P<a>rewritten|rewrote|rebuilt|reworked|reimplemented|redone|remade)\s(?P<b>in|with|on|as"
        r"|for)\b",
    ),
    ("became", "rewr rebuil reimpl overhaul", r"\b(?P<a>rewrote|rebuilt|reimplemented|overhauled)\b"),
    ("became", "passed reached exceeded", r"\b(?P<a>(?:has|have) (?:now )?(?:passed|reached|exceeded))\b"),
    ("became", "sped slowed scaled", r"\b(?P<a>sped|slowed|scaled)\b<gap>\s(?P<b>(?:up |down )?to)\b"),
    (
        "became",
        "was were been got",
        r"\b(?P<a>(?:was|were|has been|have been|got)\s(?:extended|raised|increased|lowered|reduced|shortened|cut"
        r"|postponed|enlarged|expanded|merged|split"
        r"|delayed|doubled|halved|tripled|prolonged|re-?scheduled|changed|brought forward|added|introduced"
        r"|enabled|disabled|installed|activated|deactivated|banned|forbidden))\b",
    ),
    (
        "became",
        "extend rais increas lower reduc shorten cut postpon delay doubl halv tripl prolong schedul chang forward",
        r"\b(?P<a>(?:was|were|has been|have been|got)\s(?:extended|raised|increased|lowered|reduced|shortened|cut"
        r"|postponed|delayed|doubled|halved|tripled|prolonged|re-?scheduled|changed|brought forward))\b",
    ),
    ("became", "mind", r"\b(?P<a>changed (?:their|his|her|my|our) minds?)\b"),
    (
        "became",
        "changed replaced updated renewed revised upgraded redone swapped moved rewritten rebuilt",
        r"\b(?P<a>(?:was|were|has been|have been|got)\s(?:changed|replaced|updated|renewed|revised"
        r"|upgraded|redone|swapped|moved|rewritten|rebuilt))(?=\s*[,;:.](?:\s|$))",
    ),
    (
        "now",
        "meantime since after",
        r"\b(?P<a>in the meantime|(?:has|have) since|after the (?:rollout"
        r"|migration|move|switch|upgrade|update|rewrite|redesign|relaunch|rework|repair|merge|audit"
        r"|incident))\b",
    ),
)

_NAME = re.compile(r"(?<!P)<([a-z]+)>")


def _spelled_out(pattern: str) -> str:
    return _NAME.sub(lambda name: _spelled_out(_WORDS[name[1]]) if name[1] in _WORDS else name[0], pattern)


class Wording(Struct, frozen=True):
    """``needs``: in lower case, a text without any of these can't match; empty: it always may."""

    kind: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]


WORDINGS = tuple(
    Wording(kind, tuple(needs.casefold().split()), re.compile(_spelled_out(pattern), re.IGNORECASE))
    for kind, needs, pattern in (*_TABLE, *OTHER_LANGUAGES)
)
"""In the order in which they are tried."""
