"""Private: array layouts, exact floats, parallel work, rounding. No domain words here."""
