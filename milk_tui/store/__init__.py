"""One SQLite file: schema and migrations, one module per kind of record, one writer thread."""
