"""Votes from the logs and releases of others."""
