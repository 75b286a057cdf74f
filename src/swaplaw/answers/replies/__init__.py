"""How a reply says which option it means: letters, set phrases, marks, clauses, structure, and thinking left out."""
