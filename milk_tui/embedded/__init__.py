"""Finding, fetching and starting a small local model."""
