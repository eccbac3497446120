"""The recall helper: a background role beside the session that reminds of recorded decisions (``semantics.md`` §6)."""
