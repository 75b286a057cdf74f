"""The chosen ensemble behind an OpenAI-compatible endpoint.

`ballot`, `order` and `statistical` know the vote and when it is decided, `stopping` puts them into one rule; `answers`
reads an answer from a completion; `settings` reads what the policy says about serving; `upstream` talks to a member,
`pool` asks all of them until the vote is decided, `gate` and `app` speak to clients; `demo` is a scripted upstream.
"""
