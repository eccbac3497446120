"""Choosing the percepts that an agent is given for a prompt."""
