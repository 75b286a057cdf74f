"""What can be known from few labels, or none: bounds on lift, what to label next, and estimates beside them."""

from swaplaw.decide.labels.bounds import EnsembleLabels, Labels, labels_needed, narrowing

__all__ = ["EnsembleLabels", "Labels", "labels_needed", "narrowing"]
