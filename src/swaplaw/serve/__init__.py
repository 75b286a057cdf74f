"""The chosen ensemble behind an OpenAI-compatible endpoint.

`ballot`, `order` and `statistical` know the vote and when it is decided (standard library only); `answers` reads an
answer from a completion; `settings` reads what the policy says about serving; `upstream` talks to the members, `pool`
asks them until the vote is decided, and `app` speaks to clients.
"""
