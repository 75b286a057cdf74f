"""Real models on this machine."""
