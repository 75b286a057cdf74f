"""Laws of lift from votes, beyond the paper's: margins, shares, both models' margins together, and less than votes."""
