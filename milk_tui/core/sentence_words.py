"""Words that shape a sentence, for ``core.statements``; data only."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


CERTAIN_VERBS = _set(
    "is are was were am be been has have had does do did must should shall can could may might will would cannot"
    " uses use used needs need requires require isn aren wasn weren doesn don didn won can't ist sind war waren"
    " hat haben wird werden wurde wurden muss müssen soll sollen darf dürfen kann können nutzt nutzen verwendet"
    " verwenden läuft laufen heißt heisst braucht brauchen est sont était étaient été fut ont avons avez hemos han"
    " doit doivent peut utilise utilisent utilisons es son está están era tiene tienen debe usa usan usamos puede"
)
"""Forms that are a verb wherever they stand."""

PAST_VERBS = _set(
    "brought went came took gave got made kept held left ran sent put meant built found chose wrote spoke broke"
    " grew rose fell began won lost paid met saw said told"
)

LIKELY_VERBS = _set(
    "live sit stay remain keep hold contain include support provide expose accept allow know speak like enjoy"
    " prefer want run go come lead belong point talk listen serve store save write read send receive return give"
    " take make get put set start stop end begin open close expire last cost reach look show print log work fail"
    " pass retry wait hang poll push pull sync build compile deploy ship release publish host own maintain handle"
    " manage answer sort group round limit deny block reject filter cache queue lock rotate delete remove create"
    " generate render parse load call name mean equal depend rely follow import export join merge review test"
    " check validate sign encrypt decode encode format lint track report meet happen occur arrive leave guarantee"
    " promise ignore skip drop replace exit raise throw emit bill charge pay stream buffer compress mount bind"
    " attach connect route forward proxy map link trigger fire schedule consume produce subscribe search index"
    " scan switch move default fall bring cover apply treat count measure hit win lose cross rise grow sleep dream"
    " weigh fit act need reside schliesst verlangt bleibt steht liegt gilt dauert endet beginnt öffnet schließt"
    " spricht heißt kostet"
)

SOFT_VERBS = _set(
    "is are was were am be been being has have had having does do did use run set call name live sit keep hold"
    " stay remain store save locate place put happen take work get make give go reside stand lie find know know_as"
    " define configure provide held kept made given gone got taken ran went came found stood lay written wrote"
    " spoken done choose pick select decide rely base utilize utilise employ apply follow hat haben ist sind war"
    " nutzen verwenden laufen liegen stehen heißen gibt est sont utiliser ont avons avez hemos han avoir es son"
    " está tiene tener usar"
)
"""Roots of verbs that say little of what a fact is about."""

SOFT_WORDS = _set(
    "times the a an this that these those our my your their its his her we i you they it he she us them one's who"
    " whom whose which what to of in on at by for with from into onto via per as than then so and or but nor if"
    " when while because since though also still yet already always just only even very really quite rather please"
    " currently generally usually normally typically actually basically simply exactly around about approximately"
    " roughly up out over off down there here yes yeah ok okay all any each every both some most more less many"
    " much other same own such certain various everywhere anywhere main current actual default_ new whole entire"
    " overall standard official regular must should shall can could may might will would cannot not never no"
    " without don doesn isn aren won't can't s t after called named known set value total project codebase team"
    " everyone everybody people someone company der die das den dem des ein eine einen einem einer eines und oder"
    " aber wir ich du ihr sie er es unser unsere unseren uns im am auf aus bei mit nach von vom zu zum zur für"
    " über unter durch als wie dass auch noch schon immer nur alle jede jeder jetzt nicht kein keine le la les l"
    " un une de d et ou mais nous je tu vous il elle ils elles notre nos au aux en dans sur par pour avec chez ai"
    " avons avez ont ha hemos han que qui ce cette ces son sa ses ne pas plus aussi toujours el los las lo uno una"
    " unos unas y o pero nosotros yo usted ellos nuestro nuestra del al con por para sin sobre gli di da dal della"
    " si è sono nel nella os um uma dos na nas é são het een van op voor te wij ze och att det som är się są nie и"
    " в на с по для из у о не мы он она они это как к"
)

QUALIFIERS = _set(
    "only just least most exactly some few several many above below over under more less fewer before until must"
    " should may can could might sometimes often rarely usually occasionally except unless first last both either"
    " nur mindestens höchstens seulement solo sólo"
)
"""Words that say little of what a fact is about and much of what it says."""

SPOKEN_OF_US = _set(
    "we our us team project codebase repo repository app application system product program company everyone wir"
    " nous nosotros"
)

VALUE_PREPOSITIONS = _set(
    "to on with via through by from using into onto as at after every under over above below than auf mit über"
    " durch à sur avec par con по"
)
KEY_PREPOSITIONS = _set(
    "for when during while if unless until before inside within among between in per of für bei während pour dans"
    " lors para en"
)
SYNONYMS: dict[str, str] = {
    word: words.split()[0]
    for words in (
        "database db databases dbs datenbank",
        "configuration config configs configurations settings setting",
        "environment env environments",
        "documentation docs doc",
        "production prod",
        "development dev",
        "authentication auth authn",
        "kubernetes k8s",
        "javascript js",
        "typescript ts",
        "python py",
        "maximum max maximal",
        "minimum min minimal",
        "colour color",
        "licence license licensed",
        "directory folder dir directories folders",
        "repository repo repos repositories",
        "message msg",
        "administrator admin admins",
        "specification spec specs",
        "statistics stats",
        "character char chars characters",
        "parameter param params parameters",
        "temporary temp tmp",
        "application app apps applications",
        "email e-mail mail emails mails e-mails",
        "frontend front-end",
        "backend back-end",
        "deployment deploy deploys deployments deployed",
        "organisation organization org",
        "centre center",
        "behaviour behavior",
        "limit limited limits cap capped",
        "timeout timeouts",
        "schema schemas",
        "indent indentation indented",
        "hosted hosting host",
        "second_ other_",
        "prefer prefers preferred want wants favour favours favor favors",
        "return returns returned answer answers answered respond responds responded yield yields yielded",
    )
    for word in words.split()
}

PARTICIPLES = _set(
    "written kept held made done built run sent read set put found given taken shown known cut spoken chosen"
    " driven bound hidden stored served called named hosted used based located saved deployed released limited"
    " logged cached signed"
)

DETERMINERS = _set(
    "the a an our my your their its his her this that each every all no of to der die das le la les el los las un une"
)

ADDITIVE = _set(
    "also too another additional additionally moreover furthermore besides plus support supports include includes"
    " contain contains provide provides expose exposes accept accepts allow allows know knows speak speaks like"
    " likes enjoy enjoys own owns handle handles available well translated localised localized ported tested"
    " compatible connected integrate integrates depend depends offer offers auch ebenfalls aussi también"
)
"""Words with which a fact holds beside another."""

SETTING = _set(
    "changed raised lowered increased reduced bumped adjusted updated extended shortened went became becomes"
    " become postponed rescheduled decreased doubled upgraded downgraded relaxed tightened widened narrowed"
    " trimmed modified reset grew rose fell dropped cut halved tripled quadrupled resized"
)
"""Words of change after which the subject is something else, not in another place or made with something else."""

PLACING = frozenset(("host", "deploy", "serv", "manag", "track", "maintain", "publish"))
"""Stems of verbs that, as the verb of a sentence, say only where or with what something is."""

ONLY = frozenset(("only", "nur", "seulement", "solo", "sólo"))
WEAK = _set(
    "team new main whole entire overall standard official regular project codebase company total own other another"
)
"""Soft words without which two sentences may not be the same."""

HAVING = frozenset({"has", "hav", "had", "hat", "tien"})
"""Slots (``core.statements``) in which a thing has many things."""

HAS_ONE_VALUE = _set(
    "level name mode format type kind colour color language default status state theme limit owner manager lead"
    " version strategy policy unit currency order key path header host role timezone zone branch tone style method"
    " protocol backend engine provider vendor region address title location size algorithm encoding separator prefix"
    " suffix license licence model schedule frequency deadline target baseline author maintainer contact password"
    " first last main primary minimum maximum current preferred favourite favorite biggest largest smallest top"
    " oldest newest latest logo mascot motto codename slogan factor step purpose goal cause reason"
)
"""Attributes, and words that leave one of many: "the log level is …", "the first step is …"."""

BEING = frozenset({"is", "are", "ist", "sind", "est", "es", "son"})
"""Slots in which many things are said of a thing."""

STATE_BY_CHOICE = _set(
    "decided chose picked selected agreed settled adopted opted introduced standardised standardized"
)
"""Past forms that say how it is from then on."""
