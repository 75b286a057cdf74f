"""Repeated votes from real models on multiple-choice questions (the paper's Section Datasets & Experimental Setup)."""
