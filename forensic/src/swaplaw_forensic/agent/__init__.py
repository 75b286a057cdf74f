"""The agent that investigates, and the traces that it leaves."""
