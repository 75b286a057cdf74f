"""What a server under load is put between, each a process of its own on loopback: upstreams, and the bare proxy."""
