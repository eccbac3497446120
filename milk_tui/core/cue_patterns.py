"""The wordings by which ``core.cues`` recognises a change; data only.

A pattern's groups ``a``, ``b`` and ``c`` are the cue's own words, ``old`` is what it names as the old, at most five
words.
A name in angle brackets stands for an entry of ``_WORDS``.
"""

from __future__ import annotations

import re

from msgspec import Struct

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
        r"(?:migrated|moved|renamed|re-?branded|switched|changed|converted|ported|transitioned|transferred|upgraded|downgraded|raised"
        r"|increased"
        r"|lowered|reduced|bumped|cut|decreased|extended|shortened|relocated|adjusted|grew|grown|shrank|shrunk|rose"
        r"|risen|fell|fallen|dropped|doubled|halved|tripled|quadrupled|resized|updated|rewritten|rewrote"
        r"|refactored|reworked|redesigned|shifted|swapped|flipped"
        r"|handed(?: over)?|re-?assigned|re-?scheduled|postponed|delayed|pushed(?: back)?|brought forward|reset"
        r"|modified"
        r"|came down|jumped|trimmed|tightened|relaxed|loosened|widened|narrowed|promoted|demoted|evolved|replaced"
        r"|turned|crept|slipped|climbed)"
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
        r"|(?:took|pulled|ripped|threw) (?:down|out)|moved on from|said goodbye to|outgrew|tore out)"
    ),
    "be": r"(?:is|are|was|were|has been|have been|had been|got|gets|being|been)",
    "over": (
        r"(?:gone|dropped|removed|retired|dead|read-only|history|obsolete|deprecated|uninstalled|decommissioned"
        r"|abandoned"
        r"|discontinued|switched off|turned off|shut down|deleted|no more|over|out|unused|cancell?ed|finished"
        r"|abolished|scrapped|killed"
        r"|axed|ditched|phased out|thrown out|taken down|sunset|withdrawn|revoked|lifted|eliminated|unplugged"
        r"|given up|stopped)"
    ),
    "point": (
        r"(?:\S*\d\S*|today|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july"
        r"|august"
        r"|september|october|november|december|(?:the |last |this )?(?:week|month|sprint|year|spring|summer"
        r"|autumn|fall|winter"
        r"|redesign|migration|upgrade|release|move|rewrite|switch|merge|update|incident|audit|refactoring"
        r"|relaunch|rework))"
    ),
    "german": (
        r"\w{0,12}(?:gewechselt|umgestellt|migriert|umgezogen|geändert|erhöht|gesenkt|umgestiegen|verlegt"
        r"|verschoben|umgesattelt"
        r"|gewandert|verlängert|verkürzt|umbenannt|ausgetauscht)"
    ),
}

_TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "from",
        "from",
        r"\b(?P<a><change>|went|gone)\b(?:(?<!\bwent)(?<!\bgone)<gap>|)\s(?P<b>(?:away )?from)"
        r"\s<old>\s(?P<c>(?:over )?(?:in)?to|onto)\b",
    ),
    ("from", "from", r"\b(?P<a><change>)\b<gap>\s(?P<b>(?:in)?to|onto)\s(?:\S{1,40}\s){1,4}?(?P<c>from)\s<old><end>"),
    ("from", "from", r"\b(?P<a>from)\s<old>\s(?P<b>(?:in)?to)\b(?=.{0,60}\b<change>\b)"),
    (
        "from",
        "hand pass gave transfer",
        r"<first><old>\s(?P<a>handed(?: over)?|passed(?: on)?|gave|transferred)\b<gap>\s(?P<b>(?:over )?to)\b",
    ),
    ("from", "→ -> =>", r"<first>(?P<old>[\w./:-]{1,60})\s?(?P<a>→|->|=>)\s?"),
    ("from", "von", r"\b(?P<a>von)\s<old>\s(?P<b>auf|zu|nach|in)\b.{0,60}?\b(?P<c><german>)\b"),
    (
        "from",
        "migr pass chang bascul dépla",
        r"\b(?P<a>(?:migr|pass|chang|bascul|dépla)\w{1,8})\b<gap>\s(?P<b>de |d'|d’|du )<old>\s(?P<c>à|vers|au)\b",
    ),
    (
        "from",
        "migr cambi pas mov mud",
        r"\b(?P<a>(?:migr|cambi|pas|mov|mud)\w{1,8})\b<gap>\s(?P<b>de|del|desde)\s<old>\s(?P<c>a|al|hacia)\b",
    ),
    (
        "from",
        "从 從",
        r"(?P<a>[从從])(?P<old>[^，。从從到改迁]{1,20}?)"
        r"(?P<b>迁移到|切换到|切換到|改为|改為|改成|换成|換成|升级到|迁移至|搬到|换到|到)",
    ),
    (
        "from",
        "переш перевел мигриров перенес переех измен сменил",
        r"\b(?P<a>(?:переш|перевел|мигриров|перенес|переех|изменил|сменил)\w{0,6})\b<gap>"
        r"\s(?P<b>с|со|из)\s<old>\s(?P<c>на|в)\b",
    ),
    (
        "renamed",
        "named brand called known goes",
        r"<first><old>\s(?P<a><be> (?:now )?(?:renamed|re-?branded)|is now (?:called|named|known as)|now goes by)\b",
    ),
    ("renamed", "named brand", r"\b(?P<a>renamed|re-?branded)\s(?:from\s)?<old>\s(?P<b>to|into|as)\b"),
    (
        "renamed",
        "formerly previously",
        r"\b(?P<a>formerly|previously known as|formerly known as)\s(?:called |named )?<old><end>",
    ),
    (
        "renamed",
        "wurde heißt",
        r"<first><old>\s(?P<a>(?:wurde|heißt)\s(?:(?:jetzt |nun )?(?:in )?(?:\S{1,40} )?umbenannt|jetzt|nun))\b",
    ),
    (
        "replaced",
        "replaced superseded swapped exchanged substituted succeeded",
        r"<first><old>\s(?P<a><be> (?:now |since |recently )?(?:replaced|superseded|swapped(?: out)?|exchanged"
        r"|substituted|succeeded))\s(?P<b>by|with|for)\b",
    ),
    ("replaced", "way yielded", r"<first><old>\s(?P<a>made way for|gave way to|has given way to|yielded to)\b"),
    (
        "replaced",
        "replac swap supersed exchang trade substitut tak took succeed",
        r"\b(?P<a>replac(?:ed|es|ing)|swapp?(?:ed)?(?: out)?|supersed(?:ed|es)|exchanged|traded(?: in)?|substituted"
        r"|t(?:akes?|ook) over from|t(?:akes?|ook) the place of|succeed(?:s|ed))\s<old>(?:\s(?P<b>with|by|for)\b"
        r"|<end>)",
    ),
    (
        "replaced",
        "instead rather place lieu opposed",
        r"\b(?P<a>instead of|rather than|in place of|in lieu of|as opposed to)\s"
        r"(?:using |with |on |in |to |at |by |from |via |through )?<old><end>",
    ),
    (
        "replaced",
        "not",
        r"(?P<a>,\s?(?:and )?not)\s(?:with |on |in |to |at |by |from |via )?<old>"
        r"(?=\s*(?:any ?more|any longer)?\s*(?:[,;!]|\.?$|\.\s))",
    ),
    ("replaced", "statt anstelle", r"\b(?P<a>statt|anstelle von|anstatt)\s<old><end>"),
    (
        "replaced",
        "durch von",
        r"<first><old>\s(?P<a>(?:wurde|ist|wird)\s(?:durch|von)\b).{1,60}?\b(?P<b>ersetzt|abgelöst)\b",
    ),
    ("replaced", "ersetzt löst", r"\b(?P<a>ersetzt|löst)\s<old><end>"),
    (
        "replaced",
        "lieu place plutôt",
        r"\b(?P<a>au lieu (?:de |du |d'|d’)|à la place (?:de |du |d'|d’)|plutôt que )<old><end>",
    ),
    ("replaced", "remplac", r"<first><old>\s(?P<a>(?:a été|est|sont|ont été) remplacée?s? par)\b"),
    (
        "replaced",
        "remplac reemplaz sustitu",
        r"\b(?P<a>(?:remplac|reemplaz|sustitu)\w{1,8})\s<old>\s(?P<b>par|por)\b",
    ),
    ("replaced", "lugar vez", r"\b(?P<a>en lugar de|en vez de)\s<old><end>"),
    ("replaced", "reemplaz sustitu", r"<first><old>\s(?P<a>(?:fue|ha sido|es) (?:reemplazad|sustituid)[oa] por)\b"),
    ("replaced", "вместо", r"\b(?P<a>вместо)\s<old><end>"),
    ("replaced", "замен", r"<first><old>\s(?P<a>(?:был[аои]?\s)?замен[её]н\w{0,3})\s(?P<b>на)\b"),
    ("replaced", "取代 替 代替", r"(?P<a>取代|替换|替換|代替)(?:了)?(?P<old>[^，。]{1,20}?)(?=[，。]|$)"),
    (
        "dropped",
        "",
        r"<habit>(?<!\bwas )(?<!\bwere )(?<!\bbeen )(?<!\bgot )\b(?P<a><gone>)\s<old>"
        r"(?:\s(?P<b>in favou?r of|for)\b|<end>)",
    ),
    (
        "dropped",
        "away off out",
        r"<habit>\b(?P<a>(?:moved|switched|migrated|went|got|transitioned) (?:away|off|out)(?: from| of)?)\s<old>"
        r"(?:\s(?P<b>in favou?r of|onto|into|to)\b|<end>)",
    ),
    (
        "dropped",
        "",
        r"<first><old>\s(?P<a><be>\s(?:now |completely |finally |officially )?<over>)\b"
        r"(?:\s(?P<b>in favou?r of|for)\b)?",
    ),
    (
        "dropped",
        "wurde ist",
        r"<first><old>\s(?P<a>(?:wurde|ist)\s(?:abgeschafft|entfernt|abgeschaltet|weg|eingestellt))\b",
    ),
    ("dropped", "bye", r"\b(?P<a>goodbye|bye),?\s<old><end>"),
    (
        "no longer",
        "no ya mehr nicht больше",
        r"\b(?P<a>no longer|no more|not any ?more|nicht mehr|nicht länger|ya no|больше не|не\s\S{1,30}\sбольше)\b",
    ),
    ("no longer", "plus", r"\b(?P<a>ne|n['’])\s?(?:[^\s,.]{1,30})\s(?:[^\s,.]{1,30}\s)?(?P<b>plus)\b(?!\sde\s\d)"),
    ("no longer", "不", r"(?P<a>不再|已不|不用了)"),
    ("no longer", "停用", r"(?P<a>已停用)"),
    ("no longer", "any", r"\b(?P<a>any ?more|any longer)\b"),
    ("no longer", "ceased stopped", r"\b(?P<a>ceased to|stopped|has stopped|have stopped)\s(?=\w{1,30}ing\b)"),
    ("no longer", "kein", r"\bkein\w{0,2}\s\S{1,40}(?:\s\S{1,40})?\s(?P<a>mehr)\b"),
    ("became", "to", r"<habit>\b(?P<a><change>)\b<gap>\s(?P<b>(?:over |back |up |down |forward )?to|onto|into)\b"),
    (
        "became",
        "by",
        r"<habit>\b(?P<a>raised|increased|lowered|reduced|cut|extended|shortened|decreased)\s(?P<b>by)\b",
    ),
    ("became", "on", r"\b(?P<a>standardi[sz]ed|settled|consolidated)\s(?P<b>on)\b"),
    (
        "became",
        "back up down over",
        r"\b(?P<a>went|gone|came|jumped|moved|shot|turned)\s(?P<b>(?:back|up|down|over)(?: to| by)?)\b",
    ),
    (
        "became",
        "becam becom stands over",
        r"\b(?P<a>became|becomes|has become|have become|now stands at|took over as|takes over as|takes over"
        r"|took over)\b",
    ),
    (
        "became",
        "wurde ist sind",
        r"\b(?P<a>wurden?|ist|sind)\s.{1,60}?\s(?P<b>(?:auf|zu|nach|in)\s.{1,40}?\s<german>)\b",
    ),
    (
        "became",
        "renommé migré passé changé déplacé",
        r"\b(?P<a>(?:renommée?s?|migrée?s?|passée?s?|changée?s?|déplacée?s?)\s(?:en|à|vers|sur))\b",
    ),
    (
        "became",
        "renombrad migra cambia pasa movi",
        r"\b(?P<a>(?:renombrad|migrad|cambiad|pasad|movid)[oa]s?\s(?:a|al)|(?:migramos|cambiamos|pasamos"
        r"|movimos)\sa)\b",
    ),
    (
        "became",
        "改 换 換 切 迁 升 变 调 提 降 移",
        r"(?P<a>改为|改為|改成|换成|換成|切换到|迁移到|升级到|变为|变成|调整为|提高到|降到|改用|移到|迁至)",
    ),
    (
        "became",
        "увелич уменьш измен перенес поднят снижен переимен",
        r"\b(?P<a>(?:увеличен|уменьшен|измен[её]н|перенес[её]н|поднят|снижен|переименован)\w{0,3}\s(?:до|на|в))\b",
    ),
    (
        "became",
        "new latest updated revised",
        r"\b(?P<a>(?:the |our )?(?:new|latest|updated|revised))\s(?=\S{1,40}(?:\s\S{1,40}){0,4}\s(?:is|are)\b)",
    ),
    (
        "became",
        ": ,",
        r"^(?P<a>(?:correction|update|erratum|edit|korrektur|actualización|mise à jour)\s?[:,])",
    ),
    (
        "now",
        "now these henceforth meanwhile today",
        r"\b(?P<a>(?<!for )(?<!right )(?<!until )(?<!by )now(?! and then)|nowadays|these days|from now on|henceforth"
        r"|meanwhile|as of (?:now|today))\b",
    ),
    (
        "now",
        "as starting effective since beginning",
        r"\b(?P<a>(?:as of|starting|effective|since|beginning)(?: with| on| in| the| version| release| firmware){0,4}"
        r"(?: next| last| this)?\s<point>(?:\s(?:on|onwards?)\b)?)(?=[\s.,;]|$)",
    ),
    ("now", "from", r"\b(?P<a>from(?: the| version| release| firmware){0,3}\s<point>\s(?:on|onwards?)),?\s"),
    (
        "now",
        "jetzt nun sofort inzwischen mittlerweile neuerdings seit",
        r"\b(?P<a>jetzt|nun|ab sofort|inzwischen|mittlerweile|neuerdings|seit\s\S{0,20}\d\S{0,20})\b",
    ),
    (
        "now",
        "désormais maintenant dorénavant partir ahora actualmente теперь отныне сейчас",
        r"\b(?P<a>désormais|maintenant|dorénavant|à partir de|ahora|a partir de|desde ahora|actualmente|теперь|отныне"
        r"|сейчас)\b",
    ),
    ("now", "instead", r"\b(?P<a>instead)(?=\s*[.,;]|\s*$)"),
    ("now", "现在 現在 目前 如今", r"(?P<a>现在|現在|目前|从现在起|如今)"),
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
    Wording(kind, tuple(needs.split()), re.compile(_spelled_out(pattern), re.IGNORECASE))
    for kind, needs, pattern in _TABLE
)
"""In the order in which they are tried."""
