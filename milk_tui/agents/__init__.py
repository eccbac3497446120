"""The ways to drive an agent. Every back end yields the same events (``events.py``)."""
