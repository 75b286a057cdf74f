"""A calibrated law: conversion rates frozen on one dataset, to be applied to others, Eq. (shat).

The file is small readable JSON that says which schema it follows, which weight it is for and what it was calibrated on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any, TypeGuard

from swaplaw._files import write_text
from swaplaw._result import Result
from swaplaw.errors import InputError, quote
from swaplaw.evidence.interval import Interval
from swaplaw.law.weights import as_weight

SCHEMA = "swaplaw.law"
VERSION = 1

REMEDY = "give a file that `swaplaw calibrate VOTES -o law.json` wrote"


@dataclass(frozen=True)
class Law(Result):
    """Rates averaged over the pairs of one dataset at one weight, and how well they fit there."""

    weight: Fraction
    alpha: float
    """Mean rescue conversion."""
    gamma: float
    """Mean damage conversion."""
    slope: float | None
    """lambda: the slope of lift on swap mass through the origin; 1 if the residual is negligible."""
    intervals: Mapping[str, Interval | None] = field(repr=False)
    residual: Mapping[str, Any] = field(repr=False)
    """Repair less corruption over the grid of weights (mean, sd, max, …) and at the law's own weight."""
    fit: Mapping[str, Any] = field(repr=False)
    """S-hat against observed lift on the calibration set: in-sample."""
    provenance: Mapping[str, Any] = field(repr=False)
    """What the law was calibrated on, and how."""

    def require_weight(self, weight: str | float | Fraction | None) -> None:
        """Refuse another weight: rates hold at one weight only.

        Parameters
        ----------
        weight : str, float or Fraction, optional
            The weight that the law is to be used at; None takes the law's own.

        Raises
        ------
        InputError
            If it is another one.
        """
        if weight is not None and as_weight(weight) != self.weight:
            raise InputError(
                f"this law was calibrated at weight {self.weight} and says nothing about weight {as_weight(weight)}: "
                f"leave the weight out, or calibrate a law at {as_weight(weight)}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: everything that the file holds."""
        first = next((each for each in self.intervals.values() if each), None)
        ends = {name: None if each is None else [each.low, each.high] for name, each in self.intervals.items()}
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "weight": str(self.weight),
            "alpha": self.alpha,
            "gamma": self.gamma,
            "lambda": self.slope,
            "intervals": {"level": first and first.level, "method": first and first.method, **ends},
            "residual": dict(self.residual),
            "fit": dict(self.fit),
            "provenance": dict(self.provenance),
        }

    def write(self, path: str | Path) -> None:
        """Write the law file.

        Parameters
        ----------
        path : str or Path
            The file to write.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        write_text(path, json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")


def read_law(path: str | Path, *, weight: str | float | Fraction | None = None) -> Law:
    """Read a law file, and check its schema and the weight that is asked for.

    Parameters
    ----------
    path : str or Path
        A file that `Law.write` wrote.
    weight : str, float or Fraction, optional
        The weight that the law must be for.

    Returns
    -------
    Law
        The frozen rates.

    Raises
    ------
    InputError
        If it is not a law file, or the law is for another weight.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import swaplaw as sl
    >>> with TemporaryDirectory() as folder:
    ...     sl.calibrate(sl.demo_votes(), replicates=10).write(f"{folder}/law.json")
    ...     round(read_law(f"{folder}/law.json", weight="2/3").alpha, 2)
    0.34
    """
    name = quote(str(path), 200)
    try:
        document = json.loads(Path(path).read_text())
    except OSError as error:
        raise InputError(f"{name}: cannot read the law ({error.strerror}); {REMEDY}") from None
    except ValueError:
        raise InputError(f"{name}: not JSON, so not a law file; {REMEDY}") from None
    law = _law_of(document, name)
    law.require_weight(weight)
    return law


def _law_of(document: Any, name: str) -> Law:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else None
        raise InputError(f"{name}: schema is {quote(found)}, expected {quote(SCHEMA)}; {REMEDY}")
    if document.get("version") != VERSION:
        raise InputError(
            f"{name}: law file version {quote(document.get('version'))}, this swaplaw reads version {VERSION}; "
            "calibrate again, or use the swaplaw that wrote it"
        )
    alpha, gamma = (_number(document, key, name) for key in ("alpha", "gamma"))
    slope = None if document.get("lambda") is None else _number(document, "lambda", name)
    if not isinstance(document.get("weight"), str):
        raise InputError(f"{name}: weight is {quote(document.get('weight'))}, expected text such as '2/3'; {REMEDY}")
    intervals, residual, fit, provenance = (
        _object(document, key, name) for key in ("intervals", "residual", "fit", "provenance")
    )
    weight = as_weight(document["weight"])
    return Law(weight, alpha, gamma, slope, _intervals(intervals, name), residual, fit, provenance)


def _object(document: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    part = document.get(key)
    if not isinstance(part, dict):
        raise InputError(f"{name}: {key} is {quote(part)}, expected an object; {REMEDY}")
    return part


def _number(document: dict[str, Any], key: str, name: str) -> float:
    value = document.get(key)
    if not _is_number(value):
        raise InputError(f"{name}: {key} is {quote(value)}, expected a number; {REMEDY}")
    return float(value)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _intervals(part: dict[str, Any], name: str) -> dict[str, Interval | None]:
    level: Any = part.get("level")
    method: Any = part.get("method")
    found: dict[str, Interval | None] = {}
    for key, ends in part.items():
        if key in ("level", "method"):
            continue
        pair = isinstance(ends, list) and len(ends) == 2
        whole = pair and all(map(_is_number, [*ends, level])) and isinstance(method, str)
        if not whole and ends is not None:
            raise InputError(f"{name}: interval of {quote(key)} is {quote(ends)}, expected [low, high]; {REMEDY}")
        found[key] = Interval(float(ends[0]), float(ends[1]), float(level), method) if whole else None
    return found
