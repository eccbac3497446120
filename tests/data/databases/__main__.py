"""Add the files of formats that have none yet."""

from __future__ import annotations

import lzma
import tempfile
from pathlib import Path

from milk_tui.store import migrations
from tests.data.databases import FOLDER, build, name_of, versions

for version in sorted(set(range(1, migrations.VERSION + 1)) - set(versions())):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "milk.db"
        build(version, path)
        packed = lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    (FOLDER / name_of(version)).write_bytes(packed)
    print(f"{name_of(version)}: {len(packed):,} bytes")
