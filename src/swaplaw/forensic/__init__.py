"""The forensic testbed: challenges, sandboxes, the agent, offline grading."""
