"""How good decisions are: on synthetic fleets whose truth is known, and on held-out halves of real votes."""
