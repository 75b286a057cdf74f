"""A collection: planned, checked, run, resumed, and turned into votes."""
