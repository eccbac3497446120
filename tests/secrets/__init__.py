"""Keys: planted everywhere, then looked for where none may be (``quality.md``, secrets)."""
