"""Grades of submitted answers, and the votes that they make."""
