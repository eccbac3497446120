"""The wordings of a change in other languages than English, in the form of ``core.cue_patterns``; data only.

German, French, Spanish, Russian and Chinese as far as the common wordings go; the plainest ones of Italian, Portuguese,
Dutch, Swedish, Polish, Turkish, Ukrainian, Japanese, Korean, Arabic and Hindi.
"""

from __future__ import annotations

GERMAN_CHANGE = (
    r"\w{0,12}(?:gewechselt|umgestellt|migriert|umgezogen|geändert|erhöht|gesenkt|umgestiegen|verlegt"
    r"|verschoben|umgesattelt"
    r"|gewandert|verlängert|verkürzt|umbenannt|ausgetauscht)"
)

OTHER_LANGUAGES: tuple[tuple[str, str, str], ...] = (
    ("from", "von", r"\b(?P<a>von)\s<old>\s(?P<b>auf|zu|nach|in)\b.{0,60}?\b(?P<c><german>)\b"),
    (
        "from",
        "migr pass chang bascul dépla",
        r"\b(?P<a>(?:migr|pass|chang|bascul|dépla)\w{1,8})\b<gap>\s(?P<b>de |d'|d’|du )<old>\s(?P<c>à|vers"
        r"|au)\b",
    ),
    (
        "from",
        "migr cambi pas mov mud",
        r"\b(?P<a>(?:migr|cambi|pas|mov|mud)\w{1,8})\b<gap>\s(?P<b>de|del|desde)\s<old>\s(?P<c>a|al"
        r"|hacia)\b",
    ),
    (
        "from",
        "从 從",
        r"(?P<a>[从從])(?P<old>[^，。从從到改迁]{1,20}?)(?P<b>迁移到|切换到|切換到|改为|改為|改成|换成|換成|升级到|迁移至|搬到|换到|到)",
    ),
    (
        "from",
        "переш перевел мигриров перенес переех измен сменил",
        r"\b(?P<a>(?:переш|перевел|мигриров|перенес|переех|изменил|сменил)\w{0,6})\b<gap>\s(?P<b>с|со"
        r"|из)\s<old>\s(?P<c>на|в)\b",
    ),
    (
        "renamed",
        "wurde heißt",
        r"<first><old>\s(?P<a>(?:wurde|heißt)\s(?:(?:jetzt |nun )?(?:in )?(?:\S{1,40} )?umbenannt|jetzt"
        r"|nun))\b",
    ),
    ("replaced", "statt anstelle", r"\b(?P<a>statt|anstelle von|anstatt)\s<old><end>"),
    (
        "replaced",
        "durch von",
        r"<first><old>\s(?P<a>(?:wurde|ist|wird)\s(?:durch|von)\b).{1,60}?\b(?P<b>ersetzt|abgelöst)\b",
    ),
    (
        "replaced",
        "haben hat habe wurde",
        r"\b(?P<a>haben|hat|habe)\s<old>\s(?P<b>durch|gegen)\s.{1,60}?\b(?P<c>ersetzt|abgelöst|ausgetauscht|getauscht)\b",
    ),
    ("replaced", "ersetzt löst", r"\b(?P<a>ersetzt|löst)\s<old><end>"),
    (
        "replaced",
        "lieu place plutôt",
        r"\b(?P<a>au lieu (?:de |du |d'|d’)|à la place (?:de |du |d'|d’)|plutôt que )<old><end>",
    ),
    ("replaced", "remplac", r"<first><old>\s(?P<a>(?:a été|est|sont|ont été) remplacée?s? par)\b"),
    ("replaced", "remplac reemplaz sustitu", r"\b(?P<a>(?:remplac|reemplaz|sustitu)\w{1,8})\s<old>\s(?P<b>par|por)\b"),
    ("replaced", "lugar vez", r"\b(?P<a>en lugar de|en vez de)\s<old><end>"),
    ("replaced", "reemplaz sustitu", r"<first><old>\s(?P<a>(?:fue|ha sido|es) (?:reemplazad|sustituid)[oa] por)\b"),
    ("replaced", "вместо", r"\b(?P<a>вместо)\s<old><end>"),
    ("replaced", "замен", r"<first><old>\s(?P<a>(?:был[аои]?\s)?замен[её]н\w{0,3})\s(?P<b>на)\b"),
    ("replaced", "取代 替 代替", r"(?P<a>取代|替换|替換|代替)(?:了)?(?P<old>[^，。]{1,20}?)(?=[，。]|$)"),
    (
        "dropped",
        "wurde ist",
        r"<first><old>\s(?P<a>(?:wurde|ist)\s(?:abgeschafft|entfernt|abgeschaltet|weg|eingestellt))\b",
    ),
    ("no longer", "plus", r"\b(?P<a>ne|n['’])\s?(?:[^\s,.]{1,30})\s(?:[^\s,.]{1,30}\s)?(?P<b>plus)\b(?!\sde\s\d)"),
    ("no longer", "不", r"(?P<a>不再|已不|不用了)"),
    ("no longer", "停用", r"(?P<a>已停用)"),
    ("no longer", "kein", r"\bkein\w{0,2}\s\S{1,40}(?:\s\S{1,40})?\s(?P<a>mehr)\b"),
    (
        "became",
        "wurde ist sind",
        r"\b(?P<a>wurden?|ist|sind)\s.{0,60}?\b(?P<b><german>)\b",
    ),
    (
        "became",
        "été",
        r"\b(?P<a>(?:a|ont) été (?:prolongée?s?|augmentée?s?|réduite?s?|portée?s?|avancée?s?|repoussée?s?|modifiée?s?"
        r"|changée?s?|déplacée?s?|relevée?s?|abaissée?s?))\b",
    ),
    (
        "became",
        "se fue sido",
        r"\b(?P<a>se (?:cambió|amplió|redujo|aumentó|subió|bajó|movió|trasladó|prorrogó|aplazó)"
        r"|(?:fue|ha sido) (?:cambiad|ampliad|reducid|aumentad|movid|trasladad|prorrogad|aplazad)[oa])\b",
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
        r"(?P<a>改[存放走发由用在][到在用给]?|迁到|迁往|移至|挪到|搬至|搬到|转到|换为|设为|定为|调到|增加到|减少到|升到|升至|降至|改为|改為|改成|改到|换成|換成|切换到|迁移到|升级到|变为|变成|调整为|提高到|降到|改用|移到|迁至|推迟到|提前到|延长到)",
    ),
    (
        "became",
        "увелич уменьш измен перенес поднят снижен переимен",
        r"\b(?P<a>(?:увеличен|уменьшен|измен[её]н|перенес[её]н|поднят|снижен|переименован)\w{0,3}\s(?:до"
        r"|на|в))\b",
    ),
    (
        "now",
        "jetzt nun sofort inzwischen mittlerweile neuerdings seit",
        r"\b(?P<a>jetzt|nun|ab sofort|inzwischen|mittlerweile|neuerdings|seit\s\S{0,20}\d\S{0,20})\b",
    ),
    (
        "now",
        "désormais maintenant dorénavant partir ahora actualmente теперь отныне сейчас",
        r"\b(?P<a>désormais|maintenant|dorénavant|à partir de|ahora|a partir de|desde ahora|actualmente"
        r"|теперь|отныне|сейчас)\b",
    ),
    ("now", "现在 現在 目前 如今", r"(?P<a>现在|現在|目前|从现在起|如今)"),
    (
        "from",
        "migr pass cambi spost troc mud",
        r"\b(?P<a>(?:migr|pass|cambi|spost|troc|mud)\w{1,8})\b<gap>\s(?P<b>dal|dalla|da|do|dos|das"
        r"|de)\s<old>\s(?P<c>al|alla|a|para)\b",
    ),
    ("from", "van från", r"\b(?P<a>van|från)\s<old>\s(?P<b>naar|till)\b"),
    (
        "from",
        "przesz zmien przen migr",
        r"\b(?P<a>(?:przesz|zmien|przen|migr)\w{1,9})\b<gap>\s(?P<b>z|ze)\s<old>\s(?P<c>na|do)\b",
    ),
    (
        "from",
        "から",
        r"(?P<old>[^、。はがをに]{1,20}?)(?P<a>から)[^、。]{1,20}?(?P<b>[にへ](?:移行|変更|切り替|移|変わ|置き換))",
    ),
    (
        "from",
        "에서",
        r"(?P<old>\S{1,20}?)(?P<a>에서)\s\S{1,20}?(?P<b>(?:으로|로)\s(?:옮|변경|전환|바꾸|바뀌|이전|교체))",
    ),
    (
        "replaced",
        "posto invece vez lugar",
        r"\b(?P<a>al posto di|invece di|em vez d[eo]|no lugar d[eo]|ao invés d[eo])\s<old><end>",
    ),
    ("replaced", "plaats stället", r"\b(?P<a>in plaats van|istället för)\s<old><end>"),
    ("replaced", "zamiast замість", r"\b(?P<a>zamiast|замість)\s(?P<old>\S{1,40})"),
    (
        "replaced",
        "sostitu substitu vervang zastąp",
        r"<first><old>\s(?P<a>(?:è stat[oa]|foi|is|wordt|werd|został[ao]?)\s(?:sostituit[oa] (?:da|con)"
        r"|substituíd[oa] p(?:or|el[oa])|vervangen door|zastąpion[yae] przez))\b",
    ),
    ("replaced", "代わり 대신", r"(?P<old>[^、。はがを\s]{1,20}?)(?P<a>の代わりに|\s?대신)"),
    ("no longer", "più mais", r"\b(?P<a>non|não)\s(?:\S{1,30}\s){1,4}?(?P<b>più|mais)\b"),
    ("no longer", "niet inte", r"\b(?P<a>niet meer|niet langer|inte längre)\b"),
    ("no longer", "już більше", r"\b(?P<a>już nie|більше не)\b"),
    ("no longer", "なく もう 더 لم अब", r"(?P<a>なくなった|なくなりました|もう使|더 이상|لم يعد|لم تعد|अब नहीं)"),
    (
        "became",
        "変更 変わ なり 切り替 移 로",
        r"(?P<a>(?:に変更|に変わ|になり|に切り替|に移|로 (?:변경|바뀌|바꾸|옮|이전|전환|교체)))",
    ),
    (
        "became",
        "subió bajó aumentó creció cayó pasó cambió",
        r"\b(?P<a>(?:subió|bajó|aumentó|creció|cayó|cambió)\s(?:de \S{1,20} )?(?:a|al))\b",
    ),
    (
        "became",
        "stat foi fora is zijn har został",
        r"\b(?P<a>(?:è|sono) stat[oaie] (?:spostat|cambiat|aggiornat|ridott|aumentat|portat|estes|rinominat)[oaie]"
        r"|(?:foi|foram) (?:movid|alterad|mudad|reduzid|aumentad|atualizad|prorrogad|transferid)[oa]s?"
        r"|(?:is|zijn) (?:verplaatst|gewijzigd|verhoogd|verlaagd|verlengd|bijgewerkt|hernoemd|veranderd)"
        r"|har (?:flyttats|ändrats|höjts|sänkts|förlängts|bytts)"
        r"|został[aoy]? (?:przeniesion|zmienion|zwiększon|zmniejszon|wydłużon)\w{1,3})\b",
    ),
    ("became", "taşındı değiştirildi перенесено змінено", r"\b(?P<a>taşındı|değiştirildi|перенесено|змінено)\b"),
    (
        "became",
        "pasó passa diventat tornou",
        r"\b(?P<a>pasó a(?: ser)?|(?:è )?(?:passat|diventat)[oa](?: a)?|tornou-se|passou a(?: ser)?)\b",
    ),
    (
        "now",
        "ora adesso agora nu teraz obecnie artık şimdi тепер",
        r"\b(?P<a>ora|adesso|d'ora in poi|agora|nu|teraz|obecnie|artık|şimdi|тепер|відтепер)\b",
    ),
    ("now", "今 現在 이제 지금 الآن अब", r"(?P<a>今後|今は|今|現在は|現在|이제|지금|الآن|अब)"),
)
