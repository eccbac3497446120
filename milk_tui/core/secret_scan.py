"""Recognising keys, tokens and passwords in a text, so that they are not remembered (``recall.md``,
"Safety").

The answer is what kind of secret it looks like, never the secret. Each pattern is bounded and has no nested
repetition, so the time is linear in the text.
"""

from __future__ import annotations

import re
from functools import cache

_PLACEHOLDER = (
    r"(?!(?:[<$%{\[(*•.]|x{3,}|your|my[-_]|example|changeme|change_me|placeholder|redacted|none\b|null\b|empty\b"
    r"|todo|env\b|os\.|process\.|getenv|required|optional|secret\b|password\b|token\b|pass\b|passwd\b))"
)
"""Not a value but a word that stands for one."""

_PATTERNS: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("private key", r"PuTTY-User-Key-File-\d"),
    ("AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    (
        "AWS secret key",
        r"(?i:aws.{0,20}(?:secret|access).{0,20}?)[=:\s\"']{1,5}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
    ),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,255}"),
    ("GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,64}"),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{16,255}"),
    ("OpenAI key", r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,255}"),
    ("OpenAI key", r"\bsk-(?:or-v1-)?(?=[A-Za-z0-9]{0,60}\d)[A-Za-z0-9]{20,255}"),
    ("Groq key", r"\bgsk_[A-Za-z0-9]{20,255}"),
    ("xAI key", r"\bxai-[A-Za-z0-9]{20,255}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,255}"),
    ("Replicate token", r"\br8_[A-Za-z0-9]{30,64}"),
    ("Slack token", r"\bxox[abceoprs]-[A-Za-z0-9-]{10,255}"),
    ("Slack token", r"\bxapp-\d-[A-Za-z0-9-]{10,255}"),
    ("Slack webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/]{20,255}"),
    ("Discord webhook", r"discord(?:app)?\.com/api/webhooks/\d{5,25}/[A-Za-z0-9_-]{20,255}"),
    ("Telegram token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,35}"),
    ("Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("Google OAuth secret", r"\bGOCSPX-[A-Za-z0-9_-]{20,40}"),
    ("Google OAuth token", r"\bya29\.[A-Za-z0-9_-]{20,255}"),
    ("Stripe key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("Stripe webhook secret", r"\bwhsec_[A-Za-z0-9+/=]{20,255}"),
    ("Square token", r"\b(?:sq0(?:atp|csp)-|EAAA)[A-Za-z0-9_-]{22,64}"),
    ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    ("Mailgun key", r"\bkey-[a-z0-9]{32}\b"),
    ("Discord token", r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,42}"),
    ("Databricks token", r"\bdapi[a-f0-9]{32}\b"),
    ("Linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    ("Twilio key", r"\bSK[a-f0-9]{32}\b"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{40,255}"),
    ("DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    ("Azure storage key", r"AccountKey=[A-Za-z0-9+/]{60,100}={0,2}"),
    ("age key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,64}"),
    ("Vault token", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,255}"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,2000}"),
    (
        "connection string with a password",
        rf"\b[a-zA-Z][a-zA-Z0-9+.-]{{1,30}}://[^\s:/@]{{0,64}}:{_PLACEHOLDER}[^\s/@]{{3,128}}@[^\s/]",
    ),
    (
        "authorization header",
        r"(?i:\bauthorization\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3})"
        rf"{_PLACEHOLDER}[A-Za-z0-9._~+/=-]{{8,255}}",
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

_ASSIGNED: tuple[tuple[str, str], ...] = (
    ("password", rf"{_PASSWORD}[\"'`]?\s{{0,3}}(?:=|:=|=>)\s{{0,3}}[\"'`]?(?i:{_PLACEHOLDER}){_VALUE}{{4,}}"),
    (
        "password",
        rf"{_PASSWORD}[\"'`]?\s{{0,3}}(?::|：|\bis\b|\bwas\b|\bist\b|\best\b|\bes\b|是)\s{{0,3}}[\"'`]?"
        rf"(?i:{_PLACEHOLDER})(?=[^\s]{{0,60}}[\d!#$%&*+?@^~])(?!\d{{1,3}}\b){_VALUE}{{4,}}",
    ),
    (
        "password",
        rf"{_PASSWORD}\s(?:of|for|on|to|von|für|de|para|pour)\s[^\n.;:=]{{1,60}}?(?:\s{{0,3}}[:=]|\s(?:is|was|ist|est|es))"
        rf"\s{{0,3}}[\"'`]?(?i:{_PLACEHOLDER})(?=[^\s]{{0,60}}[\d!#$%&*+?@^~])(?!\d{{1,3}}\b){_VALUE}{{6,}}",
    ),
    (
        "login with its password",
        rf"\b(?:login|user|account)\s\S{{1,64}}\s{_PASSWORD}\s(?i:{_PLACEHOLDER})(?=\S{{0,60}}\d){_VALUE}{{6,}}",
    ),
    (
        "key or token",
        rf"{_KEY}\s(?=(?:[a-f]{{0,31}}\d){{3}})[a-f0-9]{{32,64}}\b",
    ),
    (
        "key or token",
        rf"{_KEY}[\"'`]?\s{{0,3}}(?:=|:=|=>|:|\bis\b)\s{{0,3}}[\"'`]?(?i:{_PLACEHOLDER})"
        rf"(?=(?:[A-Za-z_.~+/=-]{{0,60}}\d){{3}})(?=[0-9_.~+/=-]{{0,60}}[A-Za-z])[A-Za-z0-9_.~+/=-]{{12,}}",
    ),
)


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compiled when a text is first looked at: most programs of ours only read."""
    known = ((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
    assigned = ((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASSIGNED)
    return (*known, *assigned)


KINDS = tuple(dict.fromkeys(kind for kind, _ in (*_PATTERNS, *_ASSIGNED)))
"""What ``secret_kind`` can answer."""


def secret_kind(text: str) -> str | None:
    """What kind of secret the text seems to hold, such as "GitHub token"; ``None`` when it seems to hold
    none.
    """
    for kind, pattern in _compiled():
        if pattern.search(text):
            return kind
    return None
