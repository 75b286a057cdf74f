"""What is assumed where nobody says otherwise: stated once, and light enough for the command line's help."""

MIN_GAIN = 0.01
"""Smallest gain worth a second model: one percentage point."""
FOLDS, REPEATS = 10, 3
"""Parts that questions are dealt into, and how often: more deals change little."""
REPLICATES = 2_000
"""Bootstrap draws over all candidates."""
PANEL_WORK = 20.0
"""Millions of planes that a report may look at for panels: a few seconds, and the same on every machine."""
