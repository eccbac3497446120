"""Whether a sentence affirms or denies (``recall.md``, "Writing a fact", 4).

Opposites are one word with two signs: "disabled" is "not enabled". English in full, German, French, Spanish and Russian
as far as the common words go.
"""

from __future__ import annotations

import re

_OPPOSITES: tuple[tuple[str, str, str], ...] = (
    ("enable", "enabled enable enables", "disabled disable disables deactivated deactivate"),
    ("enable", "on", "off"),
    ("require", "required require requires mandatory obligatory", "optional"),
    ("allow", "allowed allow allows permitted permit permits", "forbidden forbid forbids disallowed disallow banned"),
    ("allow", "", "prohibited denied blocked"),
    ("true", "true", "false"),
    ("enable", "active", "inactive"),
    ("support", "supported", "unsupported"),
    ("include", "include includes included", "exclude excludes excluded"),
    ("accept", "accepted accept accepts", "rejected reject rejects refuse refuses"),
    ("visible", "visible shown", "hidden"),
    ("automatic", "automatic automatically automated", "manual manually"),
    ("blocking", "blocking", "non-blocking nonblocking"),
    ("work", "works working passing passes green", "broken failing fails"),
    ("run", "running started", "stopped paused"),
    ("write", "editable writable", "read-only"),
    ("fix", "fixed resolved solved", "unfixed unresolved unsolved"),
    ("open", "open", "closed"),
    ("sign", "signed", "unsigned"),
    ("encrypt", "encrypted", "unencrypted plaintext"),
    ("stable", "stable", "unstable"),
    ("available", "available online", "unavailable offline down"),
    ("safe", "safe", "unsafe"),
    ("cache", "cached", "uncached"),
    ("sort", "sorted ordered", "unsorted unordered"),
    ("nullable", "nullable", "non-nullable"),
    ("compatible", "compatible", "incompatible"),
    ("prefer", "prefer prefers preferred likes", "avoid avoids dislikes dislike hates"),
    ("install", "installed", "uninstalled"),
    ("mind the case", "case-sensitive case-sensitively", "case-insensitive case-insensitively"),
    ("change", "mutable", "immutable"),
    ("lock", "unlocked", "locked frozen"),
    ("strict", "strict strictly", "lenient leniently"),
    ("allow", "erlaubt", "verboten"),
    (
        "enable",
        "aktiviert activé activée activado activada",
        "deaktiviert désactivé désactivée desactivado desactivada",
    ),
    ("require", "obligatoire obligatorio", "facultatif opcional"),
)
FLIPS: dict[str, tuple[str, bool]] = {
    word: (base, denies)
    for base, plus, minus in _OPPOSITES
    for words, denies in ((plus, False), (minus, True))
    for word in words.split()
}
"""Word → what it and its opposite have in common, and whether it denies."""

_NEGATIONS = frozenset(
    (
        *("not", "never", "no", "none", "nor", "cannot", "without", "neither", "nothing", "nobody", "nowhere"),
        *("nicht", "kein", "keine", "keinen", "keiner", "keinem", "nie", "niemals", "ohne"),
        *("не", "нет", "нельзя", "без"),
        *("non", "não", "niet", "geen", "inte", "değil", "لا", "ليس", "नहीं"),
        *("pas", "jamais", "sans", "aucun", "aucune", "nunca", "jamás", "sin", "ningún", "ninguna"),
    )
)
_NOT_DENIED = re.compile(
    r"\bnot (?:only|just|merely)\b|\bno(?:\.|t)? (?:matter|problem|doubt)\b|\bno\.\s?\d|\bnicht nur\b|\bif not\b"
    r"|\bwhether or not\b|\bno later than\b|\bnot? (?:more|less|fewer) than\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def denials(text: str) -> int:
    """How many words of the text deny, opposites left out; "not only" and the like don't count."""
    plain = _NOT_DENIED.sub(" ", text).casefold().replace("n't", " not").replace("n’t", " not")
    return sum(word in _NEGATIONS for word in _WORD.findall(plain))
