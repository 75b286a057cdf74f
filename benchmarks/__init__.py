"""Measurements as ratios: swaplaw beside what people would use instead, in one run."""
