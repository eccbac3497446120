"""Pictures of the real program: ``python -m tests.screenshots`` has it work on a made-up problem and draws its screens.

The program, its database and its process for models are the real ones; what the models say is in ``conversation.py``.
Clock and ids are set, so that the same program makes the same pictures.
"""
