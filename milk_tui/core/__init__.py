"""The rules of the product, as pure functions and records: no input or output, no clock of its own."""
