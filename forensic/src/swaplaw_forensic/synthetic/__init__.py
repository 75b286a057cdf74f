"""Seeded challenges, built on demand: the same seed gives the same bytes, another seed another case."""
