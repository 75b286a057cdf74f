"""Inspect AI sandboxes without Docker: `bwrap` and `apptainer`, without network and bounded in everything.

Read in this order: `config` (what a user sets), `protections` (what stands between an agent and the host),
`stage` (a sample's private files), `supervise` (one bounded call), `environment` (what Inspect sees), then
the two providers `bwrap` and `apptainer`.
"""
