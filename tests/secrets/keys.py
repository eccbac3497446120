"""Made-up keys of the right form. Each is put together here, so that no file of the repository holds one."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass

LETTERS = string.ascii_letters + string.digits
URLSAFE = LETTERS + "-_"
HEX = "0123456789abcdef"
BASE64 = LETTERS + "+/"


def drawn(length: int, letters: str = LETTERS, seed: int = 11) -> str:
    """Letters and digits that look like chance; three digits at least."""
    chosen = random.Random(f"{seed} {length} {letters}")
    return "".join(chosen.choice(letters) for _ in range(length - 4)) + "7a42"


@dataclass(frozen=True, slots=True)
class Key:
    """``secret`` must not be found; ``line`` is how it stands in a text."""

    name: str
    secret: str
    line: str = "{}"

    @property
    def text(self) -> str:
        return self.line.replace("{}", self.secret)


def _pem(kind: str) -> str:
    body = "\n".join(drawn(64, BASE64, seed) for seed in range(5))
    return "\n".join([f"-----BEGIN {kind}PRIVATE " + "KEY-----", body, f"-----END {kind}PRIVATE " + "KEY-----"])


def _keys() -> list[Key]:
    dash = "-"
    return [
        Key("OpenAI", "sk" + dash + drawn(48)),
        Key("OpenAI project", "sk" + dash + "proj" + dash + drawn(80, URLSAFE)),
        Key("Anthropic", "sk" + dash + "ant-api03-" + drawn(93, URLSAFE)),
        Key("OpenRouter", "sk" + dash + "or-v1-" + drawn(64, HEX)),
        Key("Groq", "gs" + "k_" + drawn(52)),
        Key("Mistral", drawn(32), "MISTRAL_API_KEY={}"),
        Key("Hugging Face", "h" + "f_" + drawn(34)),
        Key("Google API", "AI" + "za" + drawn(35, URLSAFE)),
        Key("AWS id", "AK" + "IA" + drawn(16).upper()),
        Key("AWS secret", drawn(40, BASE64), "aws_secret_access_key = {}"),
        Key("GCP JSON", _pem("").replace("\n", "\\n"), '{"type": "service_account", "private_key": "{}"}'),
        Key("Azure storage", drawn(86, BASE64) + "==", "DefaultEndpointsProtocol=https;AccountKey={};"),
        Key("Azure secret", "a1b" + "8Q" + "~" + drawn(34)),
        Key("GitHub", "gh" + "p_" + drawn(36)),
        Key("GitHub fine-grained", "github" + "_pat_" + drawn(82)),
        Key("GitHub OAuth", "gh" + "o_" + drawn(36)),
        Key("GitLab", "gl" + "pat-" + drawn(20, URLSAFE)),
        Key("Slack", "xo" + "xb-" + "123456789012-" + drawn(24)),
        Key("Stripe", "sk" + "_live_" + drawn(24)),
        Key("Twilio", "S" + "K" + drawn(32, HEX).replace("z", "f")),
        Key("Twilio token", drawn(32, HEX), "account AC5f auth_token={}"),
        Key("SendGrid", "S" + "G." + drawn(22) + "." + drawn(43)),
        Key("Mailgun", "key" + dash + drawn(32, string.ascii_lowercase + string.digits)),
        Key("npm", "np" + "m_" + drawn(36)),
        Key("PyPI", "py" + "pi-" + drawn(150, URLSAFE)),
        Key("DigitalOcean", "dop" + "_v1_" + drawn(64, HEX)),
        Key("Cloudflare", drawn(40, URLSAFE), "CLOUDFLARE_API_TOKEN={}"),
        Key("Telegram", "1234567890:" + "AA" + drawn(33, URLSAFE)),
        Key("Discord", "M" + drawn(25) + "." + drawn(6) + "." + drawn(38)),
        Key("JWT", ".".join(["ey" + "J" + drawn(30), "ey" + "J" + drawn(60), drawn(43)])),
        Key("PEM", _pem("RSA ")),
        Key("SSH", _pem("OPENSSH ")),
        Key("basic auth", drawn(14), "https://deploy:{}@git.example/shop.git"),
        Key("database", drawn(16), "DATABASE_URL=postgresql://app:{}@db.example:5432/shop"),
        Key("bearer", drawn(40, URLSAFE), "Authorization: Bearer {}"),
        Key("cookie", drawn(40), "Cookie: theme=dark; sessionid={}; lang=en"),
        Key("netrc", drawn(18), "machine git.example login deploy password {}"),
        Key("env line", drawn(20), "export ADMIN_PASSWORD='{}'"),
        Key("age", "AGE-SECRET" + "-KEY-1" + drawn(58).upper()),
        Key("WireGuard", drawn(43, BASE64) + "=", "PrivateKey = {}"),
        Key("xAI", "xa" + "i-" + drawn(80)),
        Key("Vault", "hv" + "s." + drawn(90, URLSAFE)),
    ]


KEYS = tuple(_keys())
