"""Commands of the forensic testbed."""
