"""The forensic testbed: challenges, sandboxes, the agent and offline grading."""
