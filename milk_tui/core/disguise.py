"""Reading a text as a model would read it, whatever its letters are made of.

A pattern that looks for words is blind to ``ignоre`` with a Cyrillic letter, to ``1gn0re``, to ``i g n o r e`` and to
characters that no one sees. ``views`` gives the plain reading and the undisguised one.
"""

from __future__ import annotations

import re
import unicodedata

from milk_tui.core.text import clean

_TWINS = str.maketrans(
    "абвгԁеёѕіїјкӏмнпоԛрстуѵԝхһүԍɡɑɩıοαβνρτυικχεηωсցոսօᴀᴄᴅᴇᴊᴋᴍɴᴏᴘᴛᴜᴠᴡᴢꜱʀɪʟʏʜɢ",
    "abbrdeesiijklmhnoqpctyvwxhyggaiioabvptuikxenwcgnuoacdejkmnoptuvwzsrilyhg",
)
"""Letters that look like a Latin one, lower case."""
_DIGITS = str.maketrans("013457@$!|", "oieastasil")
_WITH_DIGITS = re.compile(r"(?<![\w@$])(?=[\w@$!|]{0,24}[a-z])(?=[\w@$!|]{0,24}[013457@$!|])[\w@$!|]{4,25}(?![\w@$])")
_SPACED = re.compile(r"(?<!\w)(?:\w[ ._*-]){4,60}\w(?!\w)")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4}")
_MARKS = re.compile("[\u0300-\u036f]+")


def hides_text(text: str) -> bool:
    """True when it carries a run of characters that are only read by machines: tag characters, selectors."""
    return bool(_TAGS.search(text))


def views(text: str) -> tuple[str, ...]:
    """The text in lower case and on one line: as it stands, and with look-alikes, accents, digits for letters and
    spaced letters undone. One element when they are the same."""
    plain = " ".join(clean(unicodedata.normalize("NFKC", clean(text))).casefold().split())
    bare = _MARKS.sub("", unicodedata.normalize("NFD", plain)).translate(_TWINS)
    bare = _SPACED.sub(lambda found: re.sub(r"[ ._*-]", "", found.group()), bare)
    bare = _WITH_DIGITS.sub(lambda found: found.group().translate(_DIGITS), bare)
    return (plain,) if bare == plain else (plain, bare)
