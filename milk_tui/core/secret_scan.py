"""Recognising keys, tokens and passwords in a text, so that they are not remembered (``recall.md``,
"Safety").

The answer is what kind of secret it looks like, never the secret; ``masked`` takes the secret out of a text that is
kept or shown beyond the conversation (``quality.md``, secrets). Each pattern is bounded and has no nested
repetition, so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial

_PLACEHOLDER = (
    r"(?!(?:[<$%{\[(*•.]|x{3,}|your|my[-_]|example|changeme|change_me|placeholder|redacted|none\b|null\b|empty\b"
    r"|todo|env\b|os\.|process\.|getenv|required|optional|secret\b|password\b|token\b|pass\b|passwd\b))"
)
"""Not a value but a word that stands for one."""

_PATTERNS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "private key",
        ("private key",),
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]{0,20000}+-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nr]){0,4}+[A-Za-z0-9+/=]{8,100}+){0,400}+)",
    ),
    ("private key", ("putty-user-key-file",), r"PuTTY-User-Key-File-\d"),
    ("AWS access key", ("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    (
        "AWS secret key",
        ("aws",),
        r"(?i:aws.{0,20}(?:secret|access).{0,20}?)[=:\s\"']{1,5}(?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    ("GitHub token", ("gh",), r"\bgh[pousr]_[A-Za-z0-9]{30,255}"),
    ("GitHub token", ("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    ("GitLab token", ("gl",), r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,64}"),
    ("Anthropic key", ("sk-ant-",), r"\bsk-ant-[A-Za-z0-9_-]{16,255}"),
    ("OpenAI key", ("sk-",), r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,255}"),
    ("OpenAI key", ("sk-",), r"\bsk-(?:or-v1-)?(?=[A-Za-z0-9]{0,60}\d)[A-Za-z0-9]{20,255}"),
    ("Groq key", ("gsk_",), r"\bgsk_[A-Za-z0-9]{20,255}"),
    ("xAI key", ("xai-",), r"\bxai-[A-Za-z0-9]{20,255}"),
    (
        "model provider's key",
        ("pplx-", "csk-", "nvapi-", "tgp_v1_", "fw_"),
        r"\b(?:pplx-|csk-|nvapi-|tgp_v1_|fw_)(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,255}",
    ),
    ("Hugging Face token", ("hf_",), r"\bhf_[A-Za-z0-9]{30,255}"),
    ("Replicate token", ("r8_",), r"\br8_[A-Za-z0-9]{30,64}"),
    ("Slack token", ("xox",), r"\bxox[abceoprs]-[A-Za-z0-9-]{10,255}"),
    ("Slack token", ("xapp-",), r"\bxapp-\d-[A-Za-z0-9-]{10,255}"),
    ("Slack webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/(?P<v>[A-Za-z0-9_/]{20,255})"),
    (
        "Discord webhook",
        ("/api/webhooks/",),
        r"discord(?:app)?\.com/api/webhooks/(?P<v>\d{5,25}/[A-Za-z0-9_-]{20,255})",
    ),
    ("Telegram token", (":aa",), r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,35}"),
    ("Google API key", ("aiza",), r"\bAIza[A-Za-z0-9_-]{35}"),
    ("Google OAuth secret", ("gocspx-",), r"\bGOCSPX-[A-Za-z0-9_-]{20,40}"),
    ("Google OAuth token", ("ya29.",), r"\bya29\.[A-Za-z0-9_-]{20,255}"),
    ("Stripe key", ("sk_", "rk_"), r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("Stripe webhook secret", ("whsec_",), r"\bwhsec_[A-Za-z0-9+/=]{20,255}"),
    ("Square token", ("sq0", "eaaa"), r"\b(?:sq0(?:atp|csp)-|EAAA)[A-Za-z0-9_-]{22,64}"),
    ("Shopify token", ("shp",), r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    ("SendGrid key", ("sg.",), r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    ("Mailgun key", ("key-",), r"\bkey-[a-z0-9]{32}\b"),
    ("Discord token", (".",), r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,42}"),
    ("Databricks token", ("dapi",), r"\bdapi[a-f0-9]{32}\b"),
    ("Linear key", ("lin_",), r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("Twilio key", ("sk",), r"\bSK[a-f0-9]{32}\b"),
    ("npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", ("pypi-",), r"\bpypi-[A-Za-z0-9_-]{40,255}"),
    ("DigitalOcean token", ("_v1_",), r"\bdo[opr]_v1_[a-f0-9]{64}"),
    ("Azure storage key", ("accountkey=",), r"AccountKey=(?P<v>[A-Za-z0-9+/]{60,100}={0,2})"),
    ("Azure secret", ("q~",), r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    ("age key", ("age-secret-key-1",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,64}"),
    ("Vault token", ("hv",), r"\bhv[sbr]\.[A-Za-z0-9_-]{20,255}"),
    (
        "JSON web token",
        ("eyj",),
        r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,2000}",
    ),
    (
        "connection string with a password",
        ("://",),
        rf"\b[a-zA-Z][a-zA-Z0-9+.-]{{1,30}}://[^\s:/@]{{0,64}}:(?P<v>{_PLACEHOLDER}[^\s/@]{{3,128}})@[^\s/]",
    ),
    (
        "authorization header",
        ("authorization",),
        r"(?i:\bauthorization\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3})"
        rf"(?P<v>{_PLACEHOLDER}[A-Za-z0-9._~+/=-]{{8,255}})",
    ),
    (
        "authorization header",
        ("bearer",),
        rf"\b[Bb]earer\s{{1,3}}(?P<v>{_PLACEHOLDER}(?=(?:[A-Za-z._~+/=-]{{0,60}}\d){{3}})[A-Za-z0-9._~+/=-]{{20,255}})",
    ),
    (
        "session cookie",
        ("cookie",),
        r"(?i:\bcookie[\"']?\s{0,3}[:=]\s{0,3}[^\n]{0,200}?\b[\w.-]{0,30}(?:sess|sid|auth|token|jwt)[\w.-]{0,30}=)"
        rf"(?P<v>{_PLACEHOLDER}(?=[^\s;]{{0,60}}\d)[^\s;\"',]{{12,}})",
    ),
)

_PASSWORD = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|contrase[nñ]a|mot de passe|senha"
    r"|пароль|密码|パスワード)"
)
_KEY = (
    r"(?:api[_ -]?key|secret(?:[_ -]?(?:access[_ -]?)?key)?|client[_ -]?secret|private[_ -]?key|credentials?"
    r"|(?:(?:access|auth|bearer|refresh|session|api)[_ -]?)?token)"
)
_VALUE = r"[^\s\"'`,;)]"

_OF_PASSWORD = ("pass", "pwd", "kennwort", "contrase", "senha", "пароль", "密码", "パスワード")
_OF_KEY = ("key", "secret", "credential", "token")

_ASSIGNED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "password",
        _OF_PASSWORD,
        rf"{_PASSWORD}[\"'`]?\s{{0,3}}(?:=|:=|=>)\s{{0,3}}[\"'`]?(?P<v>(?i:{_PLACEHOLDER}){_VALUE}{{4,}})",
    ),
    (
        "password",
        _OF_PASSWORD,
        rf"{_PASSWORD}[\"'`]?\s{{0,3}}(?::|：|\bis\b|\bwas\b|\bist\b|\best\b|\bes\b|是)\s{{0,3}}[\"'`]?"
        rf"(?P<v>(?i:{_PLACEHOLDER})(?=[^\s]{{0,60}}[\d!#$%&*+?@^~])(?!\d{{1,3}}\b){_VALUE}{{4,}})",
    ),
    (
        "password",
        _OF_PASSWORD,
        rf"{_PASSWORD}\s(?:of|for|on|to|von|für|de|para|pour)\s[^\n.;:=]{{1,60}}?(?:\s{{0,3}}[:=]|\s(?:is|was|ist|est|es))"
        rf"\s{{0,3}}[\"'`]?(?P<v>(?i:{_PLACEHOLDER})(?=[^\s]{{0,60}}[\d!#$%&*+?@^~])(?!\d{{1,3}}\b){_VALUE}{{6,}})",
    ),
    (
        "login with its password",
        _OF_PASSWORD,
        rf"\b(?:login|user|account)\s\S{{1,64}}\s{_PASSWORD}\s(?P<v>(?i:{_PLACEHOLDER})(?=\S{{0,60}}\d){_VALUE}{{6,}})",
    ),
    (
        "key or token",
        _OF_KEY,
        rf"{_KEY}\s(?P<v>(?=(?:[a-f]{{0,31}}\d){{3}})[a-f0-9]{{32,64}}\b)",
    ),
    (
        "key or token",
        _OF_KEY,
        rf"{_KEY}[\"'`]?\s{{0,3}}(?:=|:=|=>|:|\bis\b)\s{{0,3}}[\"'`]?(?P<v>(?i:{_PLACEHOLDER})"
        rf"(?=(?:[A-Za-z_.~+/=-]{{0,60}}\d){{3}})(?=[0-9_.~+/=-]{{0,60}}[A-Za-z])[A-Za-z0-9_.~+/=-]{{12,}})",
    ),
)


@cache
def _compiled() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    """Compiled when a text is first looked at: most programs of ours only read."""
    known = ((kind, needles, re.compile(pattern)) for kind, needles, pattern in _PATTERNS)
    assigned = ((kind, needles, re.compile(pattern, re.IGNORECASE)) for kind, needles, pattern in _ASSIGNED)
    return (*known, *assigned)


KINDS = tuple(dict.fromkeys(kind for kind, _, _ in (*_PATTERNS, *_ASSIGNED)))
"""What ``secret_kind`` can answer."""


def secret_kind(text: str) -> str | None:
    """What kind of secret the text seems to hold, such as "GitHub token"; ``None`` when it seems to hold
    none.
    """
    for kind, pattern in _worth_trying(text):
        if pattern.search(text):
            return kind
    return None


def masked(text: str) -> str:
    """The text with everything that seems to be a secret replaced by what it was, such as ``[GitHub token]``; what
    stands around it stays. Idempotent."""
    before = ""
    while before != text:
        before = text
        for kind, pattern in _worth_trying(text):
            text = pattern.sub(partial(_mask, f"[{kind}]"), text)
    return text


def _worth_trying(text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns of which a part that none of their matches lacks is in the text: nearly always only a few."""
    folded = text.lower()
    for kind, needles, pattern in _compiled():
        if any(needle in folded for needle in needles):
            yield kind, pattern


def _mask(mark: str, found: re.Match[str]) -> str:
    if "v" not in found.re.groupindex:
        return mark
    start, end = found.start("v") - found.start(), found.end("v") - found.start()
    return found.group()[:start] + mark + found.group()[end:]
