"""Units of measure that answers carry, by what they measure, with exact factors."""

from fractions import Fraction

_KILO = 1000
_TABLE: dict[str, dict[str, str | int | Fraction | tuple[int, ...]]] = {
    "time": {
        "s sec secs second seconds": 1, "ms msec msecs millisecond milliseconds": Fraction(1, 1000),
        "us µs μs usec microsecond microseconds": Fraction(1, 10**6), "ns nanosecond nanoseconds": Fraction(1, 10**9),
        "min mins minute minutes": 60, "h hr hrs hour hours": 3600, "day days": 86_400, "week weeks": 604_800,
    },
    "size": {
        "byte bytes b": 1, "bit bits": Fraction(1, 8), "kb kbyte kbytes kilobyte kilobytes": (1000, 1024),
        "mb mbyte mbytes megabyte megabytes": (10**6, 1024**2), "gb gbyte gbytes gigabyte gigabytes": (10**9, 1024**3),
        "tb terabyte terabytes": (10**12, 1024**4), "kib kibibyte kibibytes": 1024, "mib mebibyte mebibytes": 1024**2,
        "gib gibibyte gibibytes": 1024**3, "tib": 1024**4,
    },
    "percent": {"% percent pct percentage": 1, "‰ permille": Fraction(1, 10)},
    "angle": {"° deg degree degrees": 1},
    "length": {"mm": Fraction(1, 1000), "cm": Fraction(1, 100), "m meter meters metre metres": 1,
               "km kilometer kilometers kilometre kilometres": 1000, "mile miles": Fraction(1_609_344, 1000),
               "ft feet foot": Fraction(3048, 10_000), "inch inches": Fraction(254, 10_000)},
    "mass": {"mg": Fraction(1, 10**6), "g gram grams": Fraction(1, 1000), "kg kilogram kilograms": 1},
    "frequency": {"hz hertz": 1, "khz": _KILO, "mhz": 10**6, "ghz": 10**9},
    "EUR": {"eur € euro euros": 1}, "USD": {"usd $ us$ dollar dollars": 1}, "GBP": {"gbp £ pound pounds": 1},
    "CHF": {"chf franc francs": 1}, "JPY": {"jpy ¥ yen": 1}, "BTC": {"btc ₿ bitcoin bitcoins": 1},
    "CAD": {"cad c$": 1}, "AUD": {"aud a$": 1}, "INR": {"inr ₹ rupee rupees": 1}, "RUB": {"rub ₽ rouble roubles": 1},
    "SEK": {"sek": 1}, "NOK": {"nok": 1}, "DKK": {"dkk": 1}, "PLN": {"pln zloty": 1}, "CNY": {"cny rmb yuan": 1},
}  # fmt: skip


def _flat() -> dict[str, tuple[str, tuple[Fraction, ...]]]:
    units = {}
    for measures, rows in _TABLE.items():
        for names, factor in rows.items():
            factors = factor if isinstance(factor, tuple) else (factor,)
            for name in names.split():
                units[name] = (measures, tuple(Fraction(one) for one in factors))
    return units


UNITS = _flat()
"""Name in small letters -> (what it measures, its factors: KB is 1000 bytes to some and 1024 to others)."""
SYMBOLS = tuple(name for name in UNITS if not name[0].isalpha())
# Where no unit is asked for, these only say what was counted.
COUNTABLE = ("size", "angle")
CURRENCIES = tuple(name for name in _TABLE if name.isupper())


def known_unit(name: str) -> bool:
    """Say whether a gold may carry this unit."""
    return name.casefold() in UNITS


def in_unit(value: Fraction, unit: str | None, wanted: str | None) -> tuple[Fraction, ...]:
    """Return what a value may be in the unit that was asked for; nothing if it measures something else.

    >>> in_unit(Fraction(46), "ms", "s")
    (Fraction(23, 500),)
    >>> in_unit(Fraction(2), "KB", "bytes")
    (Fraction(2000, 1), Fraction(2048, 1))
    >>> in_unit(Fraction(30), "%", None), in_unit(Fraction(30), "USD", "EUR")
    ((), ())
    """
    if unit is None:
        return (value,)
    measures, factors = UNITS[unit.casefold()]
    if wanted is None:
        return tuple(value * factor for factor in factors) if measures in COUNTABLE else ()
    asked, (base, *_) = UNITS[wanted.casefold()]
    return tuple(value * factor / base for factor in factors) if asked == measures else ()
