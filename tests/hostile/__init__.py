"""Text that does harm, through every way into the program and every way out (``quality.md``, "hostile text").

The texts are in ``tests/data/hostile``; ``watch.py`` says what is harm.
"""
