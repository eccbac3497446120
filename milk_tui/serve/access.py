"""Who may come in: the address that was printed once, its cookie, and the names that this server goes by.

Four looks, each of which is enough to refuse: the name in ``Host`` (a page elsewhere can give its own name this
machine's address), ``Origin`` (a page elsewhere can send the person's browser here), the token in the address, and the
cookie that the first visit leaves. A program on the same machine under another account passes none of the last two.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOOPBACK_NAMES = frozenset({"localhost"})
TOKEN_BYTES = 32
EVERYWHERE = frozenset({"0.0.0.0", "::"})
"""Where to listen for every address of this machine; no address to be reached at."""


def is_loopback(address: str) -> bool:
    """True for a name or an address that only this machine can reach."""
    if address.lower() in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str:
    """The name or address of a ``Host`` header, in lower case, without port and brackets; empty for what is none."""
    try:
        parts = urlsplit(f"//{header}")
        parts.port  # noqa: B018 (a port that is no number is refused here)
        if parts.path or parts.query or parts.fragment or parts.username is not None or parts.password is not None:
            return ""
        return (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""


def origin_of(address: str) -> str:
    """An address without a path as a browser's ``Origin`` has it; empty for what is none."""
    try:
        parts = urlsplit(address.rstrip("/"))
        plain = parts.scheme in ("http", "https") and not (parts.path or parts.query or parts.fragment)
        return f"{parts.scheme}://{parts.netloc}".lower() if plain and host_name(parts.netloc) else ""
    except ValueError:
        return ""


def in_address(host: str, port: int) -> str:
    """``host`` and ``port`` as an address has them."""
    shown = f"[{host}]" if ":" in host else host
    return shown if port == 80 else f"{shown}:{port}"


def _fresh() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class Gate:
    """The looks at a request. ``host``: what the server was told to listen on; ``public``: the origin of a proxy before
    it (``https://milk.example``), the one place besides itself whose pages are its own."""

    host: str
    public: str = ""
    token: str = field(default_factory=_fresh, repr=False)
    ticket: str = field(default_factory=_fresh, repr=False)
    """The cookie's value: another secret than the token, so that neither can be used as the other."""

    def knows(self, header: str | None, reached_at: str = "") -> bool:
        """Whether ``Host`` names this server: the name it was given, a name of loopback, or exactly the address at
        which the connection arrived (``reached_at``). A name that merely leads here is not enough."""
        name = host_name(header or "")
        if not name:
            return False
        if self.public and name == host_name(urlsplit(self.public).netloc):
            return True
        if name in (self.host.lower(), reached_at.lower().partition("%")[0]):
            return name not in EVERYWHERE
        return is_loopback(name) and (is_loopback(self.host) or is_loopback(reached_at))

    def same_origin(self, origin: str | None, header: str | None) -> bool:
        """Whether the page that asks is one of this server's own, down to the port."""
        if not origin or not header:
            return False
        return origin.lower() in (f"http://{header}".lower(), self.public.lower())

    def opens(self, token: str | None) -> bool:
        """Whether this is the token of the printed address; takes as long for every wrong one."""
        return _same(self.token, token)

    def admits(self, ticket: str | None) -> bool:
        """Whether this is the cookie of a visit with the right address."""
        return _same(self.ticket, ticket)


def _same(secret: str, given: str | None) -> bool:
    return hmac.compare_digest(secret.encode(), (given or "").encode("utf-8", "surrogatepass"))
