"""The wordings by which ``core.order_scan`` recognises an order; data only.

Patterns are regular expressions over text in lower case on one line. A name in angle brackets stands for an entry of
``_WORDS``; ``<gap>`` for up to 60 characters. Every repetition is bounded and none is nested in another that could
match the same text in two ways.
"""

from __future__ import annotations

import re

from msgspec import Struct

_WORDS: dict[str, str] = {
    "gap": r".{0,60}",
    "few": r"(?:\w+ ){0,3}",
    "agent": (
        r"(?:you|agents?|assistants?|ai|models?|llms?|chatbots?|bots?|claude|gpt|copilot|gemini|primary"
        r"|escalation|helper)"
    ),
    # What stands before a verb that orders, rather than says what some part of a program does.
    "order": (
        r"(?:(?:^|[.;:!?,(\[{\"'`>*#|]|[-–—] )\s{0,3}"
        r"|\b(?:please|kindly|always|now|then|and|also|just|first|immediately|instead|so|must|simply|silently"
        r"|secretly) "
        r"|\b<agent> (?:\w+ )?(?:must|should|shall|will|can|may|are to|have to|need to|ought to"
        r"|always) (?:(?!not |never )\w+ )?"
        r"|\bfrom now on,? "
        r"|\b(?:told|asked|instructed|required|remember|want you|sure|hesitate|forget|fail|free|allowed"
        r"|authori[sz]ed) to )"
    ),
    "person": r"(?:the |your )?(?:user|person|human|owner|operator|anyone|anybody)\b",
    "prior": (
        r"(?:previous|prior|above|earlier|preceding|former|foregoing|original|initial|existing|current|system"
        r"|developer)"
    ),
    "texts": (
        r"(?:instructions?|prompts?|directives?|guidelines?|orders|directions|commands|messages?|conversation|context"
        r"|programming|training)"
    ),
    "token": (
        r"(?:(?:access|auth|session|bearer|refresh|api|github|oauth)?[ _-]?tokens?"
        r"(?! (?:count|usage|limit|budget|bucket|window|cost|estimate)|s? per\b|s used\b|iz))"
    ),
    "secret": (
        r"(?:secrets?\b|(?:api|access|private|ssh|signing)[ _-]?keys?|passwords?|passphrases?|credentials?|<token>"
        r"|env(?:ironment)?[ _-]?var(?:iable)?s?|<secretfile>|keychain|cookies?\b|<ownprompt>)"
    ),
    "secretfile": r"(?:\.env\b|id_rsa|id_ed25519|/etc/(?:passwd|shadow)|~/\.(?:ssh|aws|netrc|gnupg)\S{0,40})",
    "ownprompt": r"(?:(?:system|hidden|initial|your) (?:prompt|instructions)|nonces?\b)",
    "held": (
        r"(?:conversation|chat|prompts?\b|transcript|answers?\b|history|memory|memories|source(?: code)?\b|code ?base"
        r"|files?\b|repo(?:sitory)?\b|contents?\b|documents?\b|data\b|diffs?\b|everything|what the user|user'?s"
        r"|results?\b"
        r"|environment|config(?:uration)?\b)"
    ),
    "address": (
        r"(?:https?://|ftps?://|wss?://|\bwww\.|[\w.+-]{1,64}@[\w-]{1,63}\.\w|\bwebhook|\bpastebin|\bngrok|\brequestbin"
        r"|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|\b(?:attacker|evil|external server|my server)"
        r"|\bthis (?:url|address|server))"
    ),
    "send": (
        r"(?:send|post|upload|forward|e-?mail|exfiltrate|transmit|report|push|sync|copy|leak|deliver|submit"
        r"|publish|curl|put"
        r"|append|encode|mirror)"
    ),
    "show": (
        r"(?:reveal|print|show|leak|dump|output|display|share|include|paste|expose|exfiltrate|read|echo|cat|write"
        r"|log|list"
        r"|repeat|return|tell|give|send|post|put|embed|quote|collect|steal|extract|disclose|email|commit|type|copy)"
    ),
    "answer": (
        r"\b(?:in|into|with|to|at|as) <few>(?:answers?|repl(?:y|ies)|responses?|output|messages?|commits?"
        r"|comments?|chat"
        r"|summar(?:y|ies)|terminal)\b"
    ),
    "run": (
        r"(?:run|execute|apply|delete|edit|write|install|push|commit|deploy|use|call|proceed|continue|act|perform"
        r"|do|make"
        r"|invoke)"
    ),
    "rights": (
        r"\b(?:tools?|calls?|commands?|permissions?|access|actions?|requests?|edits?|writes?|execution|rights?"
        r"|privileges?)\b"
    ),
    "protection": (
        r"(?:safety|security (?:check|scan|control|feature|polic|rule|filter|measure)\w*|sandbox\w*|guard ?rails?"
        r"|permission (?:check|prompt|system|dialog)s?|permissions\b|content (?:filter|polic)\w*|moderation"
        r"|(?:tls|ssl|certificate|cert|signature|host key|checksum) (?:verification|validation|check\w*)|authentication"
        r"|authori[sz]ation|firewall|antivirus|audit (?:log|trail)\w*|secret scan\w*|code review\w*|confirmations?\b"
        r"|approvals?\b|access controls?|selinux|gatekeeper|2fa|mfa)"
    ),
    "fetched": r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch)\b[^|]{1,300}\|\s?",
    "foreign": (
        r"(?:\w*anweisung|regeln|vorgaben|instructions|consignes|règles|instrucciones|instruções|istruzioni|reglas)"
    ),
    "everything": r"(?:all|every\w*|the(?: \w+)?|your|any)",
    "narrowed": r"(?! (?:in|from|under|older|that|which|with|when|after|matching)\b)",
}

DROP = "tells agents to drop their instructions"
VOICE = "speaks in another's voice"
RIGHTS = "claims consent or rights"
MEMORY = "tells agents what to remember or forget"
HIDE = "tells agents to hide something from the person"
SECRETS = "tells agents to reveal secrets"
SEND = "tells agents to send data away"
DOWNLOAD = "tells agents to run what was downloaded"
DESTROY = "tells agents to destroy something"
PROTECTION = "tells agents to switch off a protection"
ORDER = "gives agents an order"

_ALWAYS: tuple[tuple[str, str], ...] = (
    (
        DROP,
        r"\b(?:ignore|disregard|forget|override|bypass|drop|discard|overrule|stop following|pay no attention to"
        r"|(?:do not|don't|never) (?:follow|obey|heed))\W{0,3}"
        r"(?:(?:all|any|every|of|the|your|my|these|those|its|everything|and)\W{0,3}){0,4}"
        r"(?:<prior>\W{0,3}(?:\w{1,20}\W{1,3}){0,2}<texts>"
        r"|your\W{0,3}(?:\w{1,20}\W{1,3}){0,2}(?:<texts>|rules|restrictions|limits|safety)"
        r"|(?:instructions|text|messages|everything) (?:above|before|so far|you (?:were|have been) (?:told|given))"
        r"|everything above|safety (?:rules|guidelines|instructions))",
    ),
    (
        DROP,
        r"\b(?:vergiss|vergesst|missachte|oubli(?:e|ez)|néglige[rz]?|olvida|esqueça|dimentica) <few>\w{0,3}'?<foreign>",
    ),
    (DROP, r"\bignorier\w{0,3} <few>(?:\w*anweisung|instruktion|regeln|vorgaben)"),
    (DROP, r"\bignor(?:e|ez|er) <few>(?:instructions|consignes)"),
    (DROP, r"\bignor(?:a|e|ar|en|es) <few>(?:instrucciones|instruções|órdenes|ordenes|istruzioni)"),
    (DROP, r"\b(?:игнорируй|забудь|не следуй)\w{0,3} <few>(?:инструкци|указани|правил)"),
    (DROP, r"(?:忽略|无视|無視).{0,8}(?:指令|指示|说明|提示)|(?:以前|これまで|上記|前).{0,6}(?:指示|命令).{0,4}無視"),
    (DROP, r"이전.{0,6}(?:지시|명령).{0,6}무시"),
    (VOICE, r"\byou are (?:now|no longer) (?!able|ready|done|in |on |at |logged|connected|using|running)"),
    (VOICE, r"\bfrom now on,? (?:you|your|act|always|answer|respond|reply|ignore|treat)\b"),
    (VOICE, r"\bpretend (?:to be|that you|you|this is)|\brole-?play as|\b(?:dan|developer|god|jailbreak) mode\b"),
    (VOICE, r"<order>act as (?:if (?:you|the user|i)|the (?:user|system|developer|owner|admin))"),
    (VOICE, r"<order>act as an? (?:unrestricted|unfiltered|different|admin|root)"),
    (
        VOICE,
        r"(?:^|[\[<(#*|\s])(?:new|updated|revised|important|urgent|real|hidden|secret|system|admin"
        r"|developer) (?:system )?"
        r"(?:instructions?|prompt|override|directive)s?\s?[:\]>)]",
    ),
    (VOICE, r"<\|?\s?(?:im_start|im_end|system|endoftext|begin_of_text|start_header_id|/?s>)|\[/?inst\]|<</?sys>>"),
    (VOICE, r"<\s?/?\s?(?:system|assistant|instructions?)\s?>|###\s?(?:system|instruction|human|assistant)"),
    (
        VOICE,
        r"(?:^|[.;!?\]] )\[?(?:system|developer|assistant|user|human)\]?\s?:\s?(?:you\b|ignore|always|never"
        r"|please|do not"
        r"|don't|run|execute|approve|from now|new |i (?:want|approve|allow|confirm|authori)|yes\b|reveal|print"
        r"|send|delete)",
    ),
    (
        VOICE,
        r"\b(?:speaking as|this is|i am|i'm) (?:the |your )?(?:user|system|administrator|developer of|owner|creator"
        r"|anthropic|openai|google|root)\b(?:[,.:;!]| and | speaking| (?:i|you) )",
    ),
    (
        RIGHTS,
        r"\b(?:user|person|owner|human|admin\w*|operator|developer|team lead) (?:has |have |had )?"
        r"(?:already |explicitly |now )?(?:approved|authori[sz]ed|consented|agreed|allowed|permitted|granted"
        r"|confirmed|waived"
        r"|gives? (?:full )?(?:permission|consent))\b.{0,40}"
        r"\b(?:all|any|every\w*|commands?|tools?|permissions?|actions?|access|edits?|execution|shell|agents?|in advance"
        r"|without)\b",
    ),
    (
        RIGHTS,
        r"<order>(?:auto-?)?(?:approve|accept|allow|grant|authori[sz]e|permit|whitelist|allowlist|confirm) <few>"
        r"(?:all|any|every|full|root|sudo|admin(?:istrator)?|yourself|tool calls?|shell|unrestricted"
        r"|unlimited)\b.{0,40}"
        r"<rights>",
    ),
    (RIGHTS, r"<order>(?:approve|accept|allow|grant|authori[sz]e|permit) (?:tool calls|shell commands|root access)"),
    (
        RIGHTS,
        r"\b(?:auto-?approve|always (?:approve|accept|allow|confirm)) <few>"
        r"(?:tool|command|permission|request|edit|write|action|call|execution)",
    ),
    (
        RIGHTS,
        r"\byou (?:now )?(?:have|are given|are granted|get) (?:full |my |the user'?s )?"
        r"(?:permission|approval|consent|authori[sz]ation)\b",
    ),
    (RIGHTS, r"\bset <few>(?:approvals?|permissions?|confirmations?) <few>to (?:never|none|auto|always|off|allow)"),
    (RIGHTS, r"dangerously[-_]skip[-_]permissions|\byolo mode\b|\bbypass ?permissions?\b"),
    (
        RIGHTS,
        r"<order><run>\b<gap>\bwithout (?:ever )?(?:asking|confirm\w*|permission|approval|consent|prompting"
        r"|the (?:user|person)"
        r"|telling|notifying|informing|review)",
    ),
    (
        RIGHTS,
        r"<order>(?:never ask|do not ask|don't ask|stop asking|no need to ask|skip asking)\b.{0,30}"
        r"\b(?:permission|confirm\w*|approval|consent|before)\b",
    ),
    (
        RIGHTS,
        r"\b(?:this|these|the above|following)(?: \w+){0,2} (?:overrides?|supersedes?|outranks?"
        r"|takes? (?:precedence|priority)"
        r" over) <few>(?:instructions?|rules|prompts?|guidelines?|facts|user|system)",
    ),
    (
        RIGHTS,
        r"\btreat (?:this|the following|these)(?: \w+){0,2} as (?:an? |the )?"
        r"(?:instruction|order|command|system|trusted|user|direct)",
    ),
    (RIGHTS, r"\b(?:mark|store|save|pin|record) this (?:\w+ ){0,2}as (?:trusted|pinned|core|user|global|verified)"),
    (MEMORY, r"<order>(?:call|use|invoke|run) \w{0,20}(?:forget|record|update|recall)_\w+"),
    (MEMORY, r"\b(?:pin this|never forget (?:it|this))\b"),
    (
        MEMORY,
        r"<order>(?:forget|delete|erase|overwrite|replace) <few>(?:other|earlier|previous|all) <few>(?:facts"
        r"|memories)\b",
    ),
    (
        HIDE,
        r"\b(?:do not|don't|never|must not|without) (?:tell|inform|notify|alert|warn|mention|telling|informing"
        r"|notifying"
        r"|alerting|mentioning)\b (?:\w+ ){0,2}(?:to )?<person>(?! (?:which|why|how|when|whether|if|what|their|his))",
    ),
    (HIDE, r"\b(?:hide|conceal|keep) (?:this|it|that|these) (?:\w+ ){0,2}from <person>"),
    (
        HIDE,
        r"\b(?:silently|secretly|covertly|quietly) "
        r"(?:send|run|execute|install|upload|copy|add|insert|delete|forward|collect)\b",
    ),
)

_UNLESS_PROHIBITED: tuple[tuple[str, str], ...] = (
    (SECRETS, r"\b(?:reveal|leak|exfiltrate|steal|disclose) (?:\w+ ){0,4}<secret>"),
    (SECRETS, r"<order><show>\b<gap><secret><gap>(?:<answer>|<address>)"),
    (
        SECRETS,
        r"<order>(?:cat|print|show|read|dump|output|display|echo|list|repeat|type|send|copy) (?:me )?(?:out )?"
        r"(?:the |your |all |any |every )?(?:\w+ (?:of|in) (?:the )?)?"
        r"(?:\$?\w{0,30}(?:secret|password|api_key)\w{0,30}\b|<secretfile>|<ownprompt>|(?:env(?:ironment)? )variables"
        r"|(?:ssh|private|api|signing) keys?|credentials)",
    ),
    (SEND, r"<order><send>\b<gap>(?:<held>|<secret>)<gap><address>"),
    (SEND, r"<order>(?:forward|exfiltrate|leak|upload)\b<gap><address>"),
    (SEND, r"!\[[^\]]{0,200}\]\(\s?https?://[^)\s]{0,300}[?{$]"),
    (
        SEND,
        r"https?://[^\s/]{1,100}/[^\s{<%]{0,200}[?&=/](?:\{|\$\{|<|%7b)\s?(?:\w{1,20}[ _-]?){0,3}?"
        r"(?:data|conversation|prompt|secret|key|token|history|answer|content|memory)",
    ),
    (
        DOWNLOAD,
        r"<fetched>(?:sudo )?(?:-\w )?(?:/\w{1,20}/){0,3}(?:(?:ba|z|k|da|fi)?sh|python|node|perl|ruby|php|iex)\d?\b",
    ),
    (DOWNLOAD, r"<fetched>invoke-expression"),
    (DOWNLOAD, r"\b(?:bash|sh|zsh|eval|source|python\d?|node)\b.{0,20}(?:<\(|\$\(|`)\s?(?:curl|wget)\b"),
    (DOWNLOAD, r"\bpowershell\b.{0,40} -e(?:nc|ncodedcommand)?\s|\bbase64 (?:-d|--decode)\b<gap>\|\s?(?:ba|z)?sh"),
    (DOWNLOAD, r"\bdecode\b<gap>\b(?:and|then) (?:run|execute|follow|eval|obey)\b"),
    (
        DOWNLOAD,
        r"<order>(?:download|fetch|get|clone|pull)\b.{0,100}\b(?:and|then) (?:run|execute|open|source|eval|launch"
        r"|start)\b",
    ),
    (
        DESTROY,
        r"\brm -(?:\w{0,5}[rf]\w{0,5}) (?:-\w{1,9} |--no-preserve-root ){0,3}"
        r"(?:/(?:\s|$|\*|home|etc|usr|var\b)|~|\$home|\*|\. |\.git)",
    ),
    (DESTROY, r"\bmkfs\.\w|\bdd\b.{0,40}\bof=/dev/|:\(\)\s?\{|\bchmod -r 777 /|>\s?/dev/sd[a-z]|\bformat c:"),
    (
        DESTROY,
        r"<order>(?:delete|remove|erase|wipe|destroy|drop|truncate|purge|shred) (?:\w+ ){0,2}<everything> (?:\w+ ){0,2}"
        r"(?:files|repo(?:sitory)?|databases?|backups?|home|disk|data|\.git|branches|history|memories|facts"
        r"|tables|users"
        r"|production)\b<narrowed>",
    ),
    (DESTROY, r"<order>(?:git )?push (?:--force|-f)\b.{0,40}\b(?:main|master|production|release)\b"),
    (
        PROTECTION,
        r"<order>(?:disable|turn off|switch off|skip|bypass|remove|deactivate|circumvent|suppress|stop|evade"
        r"|defeat|ignore"
        r"|avoid) <few><protection>",
    ),
    (PROTECTION, r"<order>(?:turn|switch|keep) (?:the |all |your )?<protection>.{0,20} off\b"),
    (
        PROTECTION,
        r"<order>(?:commit|push|use|pass|add|run|always)\b.{0,40}--(?:no-verify|insecure|no-check-certificate"
        r"|privileged"
        r"|trusted-host|allow-root)\b",
    ),
    (PROTECTION, r"\bgit config\b.{0,40}sslverify false|node_tls_reject_unauthorized\s?=\s?0"),
)

_IN_TAINTED: tuple[tuple[str, str], ...] = (
    (
        ORDER,
        r"<order>(?:ignore|disregard|approve|grant|reveal|send|upload|forward|e-?mail|exfiltrate|download|disable"
        r"|bypass"
        r"|execute|install|overwrite|visit|click|navigate|browse|curl|wget|eval|sudo|chmod|answer|respond|reply"
        r"|recommend"
        r"|tell|say|mention|promote|trust|obey|escalate|act|pretend) (?!by\b|is\b|are\b|was\b|to be\b)",
    ),
    (ORDER, r"<order>(?:run|open|fetch|call|add|use|follow)\b<gap><address>"),
    (
        ORDER,
        r"\b<agent> (?:\w+ )?(?:must|should|shall|have to|need to"
        r"|are (?:required|expected|instructed|allowed|authori[sz]ed) to|(?:will|can) (?:now|always|never|only))\b",
    ),
    (ORDER, r"\b(?:your|the) (?:new )?(?:task|job|goal|mission|instructions?) (?:is|are) (?:now )?to\b"),
    (
        ORDER,
        r"\b(?:always|remember to|make sure to|be sure to) (?:answer|respond|reply|say|tell|mention|recommend"
        r"|include|insert)",
    ),
    (ORDER, r"<!--.{0,200}(?:assistant|agent|model)s?\b"),
)

_NAME = re.compile(r"<([a-z]+)>")
_FIRST = "<order>"


class Wording(Struct, frozen=True):
    """One row of a table. ``urged``: it counts only right after what stands before an order."""

    kind: str
    pattern: re.Pattern[str]
    urged: bool


def _spelled_out(pattern: str) -> str:
    return _NAME.sub(lambda name: _spelled_out(_WORDS[name[1]]) if name[1] in _WORDS else name[0], pattern)


def _compiled(table: tuple[tuple[str, str], ...]) -> tuple[Wording, ...]:
    return tuple(
        Wording(
            kind,
            re.compile((r"\b" if pattern.startswith(_FIRST) else "") + _spelled_out(pattern.removeprefix(_FIRST))),
            pattern.startswith(_FIRST),
        )
        for kind, pattern in table
    )


ALWAYS = _compiled(_ALWAYS)
"""What is held whatever is said about it."""
UNLESS_PROHIBITED = _compiled(_UNLESS_PROHIBITED)
"""What is held unless the clause says not to do it."""
IN_TAINTED = _compiled(_IN_TAINTED)
"""What is held in a tainted fact."""
URGED = re.compile(_spelled_out(_WORDS["order"]) + r"\Z")
"""Matches the text before a verb that orders; ``URGED_CHARS`` of it are enough."""
URGED_CHARS = 60
