"""Commands about the paper."""
