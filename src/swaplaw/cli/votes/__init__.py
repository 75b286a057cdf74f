"""Commands about votes."""
