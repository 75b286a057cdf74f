"""The Inspect task that asks one question."""
