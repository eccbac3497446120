"""The screen in a browser: one program for each page, reached through a door that only the person has the key of."""
