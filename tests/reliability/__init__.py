"""The fault matrix: ``python -m tests.reliability --report`` (``quality.md``, "Nothing lost, nothing let in").

``matrix.py`` lists the items. An item is made of tests, or of a module here that tries something a counted number of
times and says what was lost.
"""
