"""The full-screen program: app, screens, widgets; no rules."""
