"""Policies in Inspect AI: a model provider that answers by a policy's vote, and a solver that pools agents."""
