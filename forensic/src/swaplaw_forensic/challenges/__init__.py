"""Challenges: manifests, evidence and, apart from both, gold."""
