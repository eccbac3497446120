"""Taking keys out of text that is shown or logged (``quality.md``, secrets)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from milk_tui.core.secret_scan import masked

MARK = "[redacted]"
_SHORTEST = 8

_SECRET_NAME = re.compile(r"(?i)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_|$)")
_SHAPES = re.compile(
    r"""
      \b(?:sk|pk|rk|gsk|xai|hf|r8|pplx|csk|nvapi|tgp|key)[-_][\w*.-]{6,}
    | \bgh[pousr]_\w{16,} | \bgithub_pat_\w{16,}
    | \bAIza[\w-]{16,} | \b(?:AKIA|ASIA)[0-9A-Z]{12,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?
    | (?<=[Bb]earer[ ])[^\s"',;]{6,}
    | (?<=[?&]key=)[^\s&"']{6,} | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)
    """,
    re.VERBOSE,
)


class Redactor:
    """Replaces the values of secret-looking environment variables, of keys named to it, and what has a key's
    shape."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        named = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
        self._secrets = {value for value in named if len(value) >= _SHORTEST}

    def learn(self, secrets: Iterable[str]) -> None:
        """Values to take out from now on; very short ones are left, since they would take words out."""

        self._secrets.update(secret for secret in secrets if len(secret) >= _SHORTEST)

    def __call__(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, MARK)
        return masked(_SHAPES.sub(MARK, text))
