"""The conductor: one turn from prompt to commit."""
