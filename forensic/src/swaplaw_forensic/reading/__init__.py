"""What an answer says: numbers with their units, moments, and the members of a list."""
