"""The endpoint: requests, replies, limits and metrics."""
