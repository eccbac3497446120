"""Where a key was found that must be nowhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path


def in_files(root: Path, secret: str, *, but: Iterable[Path] = ()) -> list[str]:
    """Files below ``root`` whose bytes hold it, the database's log and free pages among them."""
    forms = {secret.encode(), secret.encode("utf-16-le"), secret.replace("\n", "\\n").encode()}
    left = set(but)
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and path not in left:
            data = path.read_bytes()
            if any(form in data for form in forms):
                found.append(str(path.relative_to(root)))
    return found


def in_database(database: Path, secret: str) -> set[str]:
    """Columns (``table.column``) of which a value holds it, the text indexes among them."""
    found = set()
    with closing(sqlite3.connect(database)) as conn:
        tables = [name for (name,) in conn.execute("select name from sqlite_schema where type = 'table'")]
        for table in tables:
            if table.endswith(("_trigram_terms", "_records_terms")):
                continue
            cursor = conn.execute(f'select * from "{table}"')
            names = [column[0] for column in cursor.description or ()]
            for row in cursor:
                for name, value in zip(names, row, strict=True):
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                    if secret in text or secret.replace("\n", "\\n") in text:
                        found.add(f"{table}.{name}")
    return found
