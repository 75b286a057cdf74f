"""Members' upstreams: calls, their limits, and what comes back."""
