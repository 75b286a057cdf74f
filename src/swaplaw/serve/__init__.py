"""The chosen ensemble behind an OpenAI-compatible endpoint.

`voting` knows the vote and when it is decided, whatever is still to come; `settings` reads what the policy says about
serving; `upstream` talks to members; `http` speaks to clients; `record` keeps live votes, `drift` compares them with
those the policy was judged on, `replay` plays recorded ones back; `demo` is a scripted upstream.
"""
