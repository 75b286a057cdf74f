"""The running vote, when it is decided, and who is asked next."""
