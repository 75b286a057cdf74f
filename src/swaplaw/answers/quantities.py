"""Numbers, money and measures in one spelling: an exact number of base units.

`1,234.50` is 1234.5, `$1.5M` is `1500000 USD`, `2 km` and `2000 metres` are `2000 m`, `36 km/h` is `10 m s^-1`,
`1 h 30 min` is `5400 s`. What is counted stays (`5 apples` is `5 apple`). Exact fractions, a bounded grammar and no
guesses: a text of which a word is left is no quantity, and neither is a bound ("at least 5") or a choice ("5 or 6").
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache

from swaplaw.answers.characters import unify

LONGEST = 120
_LARGEST = 10**60
TWO_NUMBERS = re.compile(r"[1-9]00,[1-9]00")
"""What may be two round numbers as well as one with its thousands set apart."""

# Words

_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SPELLED = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 1000, "mn": 10**6, "bn": 10**9, "tn": 10**12, "lakh": 10**5, "crore": 10**7,
}  # fmt: skip
_WORD = "|".join([*sorted(_SPELLED, key=len, reverse=True), "dozen", "hundred", "thousand", "million", "billion"])
_WORDS = re.compile(
    rf"(?:a\s(?=dozen|hundred|thousand|million|billion)|half\sa\s|(?:{_WORD})\b)(?:(?:\sand\s|[\s-])?(?:{_WORD})\b)*"
)
_ROUGH = re.compile(
    r"^(?:####|(?:the\s)?(?:final\s)?answer(?:\sis|:)|about|approximately|approx\.?|roughly|around|~|≈|=|exactly|a\stotal\sof)\s*"
)

# Units: the SI base units, with what is counted (bits, currencies) beside them

_BASES = {
    "m": "m metre metres meter meters", "g": "g gram grams gramme grammes", "s": "s sec secs second seconds",
    "A": "A amp amps ampere amperes", "K": "K kelvin kelvins", "mol": "mol mole moles", "cd": "cd candela",
    "bit": "bit bits", "%": "% percent percentage pct", "deg": "° deg degree degrees",
    "USD": "$ USD US$ dollar dollars buck bucks", "EUR": "€ EUR euro euros", "GBP": "£ GBP quid sterling",
    "JPY": "¥ JPY yen", "INR": "₹ INR rupee rupees Rs", "CHF": "CHF franc francs", "BRL": "R$ BRL real reais",
    "CAD": "CAD C$", "AUD": "AUD A$", "CNY": "CNY RMB yuan", "BTC": "BTC ₿ bitcoin bitcoins",
    "RUB": "RUB ₽ ruble rubles",
    "KRW": "KRW ₩ won", "SEK": "SEK", "NOK": "NOK", "DKK": "DKK", "PLN": "PLN zloty", "MXN": "MXN peso pesos",
    "month": "month months", "baud": "baud", "rpm": "rpm",
}  # fmt: skip
_DERIVED = {
    "min mins minute minutes": "60 s", "h hr hrs hour hours": "3600 s", "day days": "86400 s", "d": "86400 s",
    "week weeks wk wks": "604800 s", "year years yr yrs": "12 month", "decade decades": "120 month",
    "century centuries": "1200 month", "inch inches in": "0.0254 m", "ft foot feet": "0.3048 m",
    "yd yard yards": "0.9144 m",
    "mi mile miles": "1609.344 m", "nmi": "1852 m", "ly": "9460730472580800 m", "au AU": "149597870700 m",
    "Å angstrom angstroms": "1e-10 m", "lb lbs pound pounds": "453.59237 g", "oz ounce ounces": "28.349523125 g",
    "t tonne tonnes": "1000000 g", "ton tons": "907184.74 g", "stone": "6350.29318 g", "u amu": "1.66053906660e-24 g",
    "L l litre litres liter liters": "0.001 m^3", "cc": "1e-6 m^3", "gal gallon gallons": "0.003785411784 m^3",
    "qt quart quarts": "0.000946352946 m^3", "pint pints": "0.000473176473 m^3", "cup cups": "0.0002365882365 m^3",
    "tbsp tablespoon tablespoons": "0.00001478676478125 m^3", "tsp teaspoon teaspoons": "0.00000492892159375 m^3",
    "ha hectare hectares": "10000 m^2", "acre acres": "4046.8564224 m^2", "sqft": "0.09290304 m^2",
    "Hz hertz": "1 s^-1", "N newton newtons": "1000 g m s^-2", "J joule joules": "1000 g m^2 s^-2",
    "W watt watts": "1000 g m^2 s^-3", "Wh": "3600000 g m^2 s^-2", "Pa pascal pascals": "1000 g m^-1 s^-2",
    "bar bars": "1e8 g m^-1 s^-2", "atm atmosphere atmospheres": "101325000 g m^-1 s^-2",
    "psi": "6894757.293168 g m^-1 s^-2", "cal calorie calories": "4184 g m^2 s^-2", "eV": "1.602176634e-16 g m^2 s^-2",
    "hp horsepower": "745699.87158227022 g m^2 s^-3", "C coulomb coulombs": "1 A s",
    "V volt volts": "1000 g m^2 s^-3 A^-1", "ohm ohms Ω": "1000 g m^2 s^-3 A^-2",
    "F farad farads": "0.001 g^-1 m^-2 s^4 A^2",
    "H henry henries": "1000 g m^2 s^-2 A^-2", "T tesla teslas": "1000 g s^-2 A^-1",
    "Wb weber webers": "1000 g m^2 s^-2 A^-1",
    "byte bytes B": "8 bit", "b": "1 bit", "mph": "0.44704 m s^-1", "kph kmh": "5/18 m s^-1",
    "knot knots kn": "463/900 m s^-1", "cent cents ¢": "0.01 USD", "pence p": "0.01 GBP",
    "rad radian radians": "1 rad", "‰ permille": "0.1 %", "ppm": "0.0001 %", "molar": "1000 mol m^-3",
    "Sv sievert": "1 m^2 s^-2", "Bq becquerel": "1 s^-1", "lm lumen lumens": "1 cd", "lux lx": "1 cd m^-2",
}  # fmt: skip
_PREFIXED = (
    "m g s A K mol bit B b byte bytes bits Hz N J W Wh Pa bar cal eV V ohm ohms Ω F H T Wb L l litre litres liter "
    "liters "
    "metre metres meter meters gram grams second seconds hertz watt watts volt volts joule joules newton newtons "
    "pascal pascals "
    "ampere amperes amp amps mole moles farad farads C tonne tonnes t calorie calories sievert Sv Bq"
)
_PREFIXES = {
    "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "m": -3, "µ": -6, "u": -6, "n": -9, "p": -12, "f": -15, "c": -2, "d": -1,
    "h": 2, "kilo": 3, "mega": 6, "giga": 9, "tera": 12, "milli": -3, "micro": -6, "nano": -9, "pico": -12, "centi": -2,
    "deci": -1,
}  # fmt: skip
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4}
Unit = tuple[Fraction, tuple[tuple[str, int], ...]]
"""How many base units it is, and their powers."""


@cache
def _units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for base, names in _BASES.items():
        units.update(dict.fromkeys(names.split(), (Fraction(1), ((base, 1),))))
    for names, meaning in _DERIVED.items():
        number, *powers = meaning.split()
        parts = [part.partition("^") for part in powers]
        dims = tuple(sorted((base, int(power or 1)) for base, _, power in parts))
        units.update({name: (Fraction(number), dims) for name in names.split()})
    for name in _PREFIXED.split():
        factor, dims = units[name]
        for prefix, power in _PREFIXES.items():
            if (len(prefix) > 1) == (
                len(name) > 3 or name in ("gram", "mole", "watt", "volt", "bits", "byte", "amp", "bit")
            ):
                units.setdefault(prefix + name, (factor * Fraction(10) ** power, dims))
    for prefix, power in _BINARY.items():
        for name in ("B", "b", "bit"):
            units[prefix + name] = (units[name][0] * 1024**power, units[name][1])
    for prefix, power in (("kilo", 3), ("mega", 6), ("giga", 9), ("tera", 12)):
        units.update(
            {f"{prefix}{name}": (units[name][0] * 10**power, units[name][1]) for name in ("bytes", "byte", "bits")}
        )
    return units


@cache
def _folded() -> dict[str, Unit]:
    """Units by their names in small letters, where that leaves one meaning."""
    folded: dict[str, Unit | None] = {}
    for name, unit in _units().items():
        small = name.casefold()
        folded[small] = unit if folded.get(small, unit) == unit else None
    return {name: unit for name, unit in folded.items() if unit is not None}


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)\s?(?:(?P<hex>0x[0-9a-f]+)"
    r"|(?P<whole>\d{1,3}(?:[, '_]\d{3})+(?!\d)|\d{1,2}(?:,\d{2})*,\d{3}(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?!\d)|\d+)?"
    r"(?P<point>[.,]\d+)?"
    r"(?:(?<=\d)(?:\s?[x*×·]\s?10\s?\^\s?(?P<open>[({])?(?P<power>[+-]?\d{1,3})(?(open)[)}])|e(?P<exponent>[+-]?\d{1,3}))(?!\d))?)",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"(?P<sign>[+-]?)\s?(?:(?P<ones>\d+)\s+)?(?P<above>\d+)\s?/\s?(?P<below>\d+)(?![\d/])")
_FACTOR = re.compile(
    r"\s?(?P<over>/|\bper\s)?\s?[·*⋅.]?\s?(?P<name>[a-zµΩÅ°%‰¢]+|[$€£¥₹₽₩₿])(?P<power>\s?\^\s?\(?-?\d\)?|-?\d)?",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"^([+-]?)\s*(US\$|R\$|C\$|A\$|[$€£¥₹₽₩₿]|USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|BTC|KRW|Rs\.?)\s?(?=[\d.])",
    re.IGNORECASE,
)
_SIZES = re.compile(r"\s?(hundred|thousand|million|billion|trillion|dozen|lakh|crore|mn\b|bn\b|tn\b|k\b|K\b|M\b|B\b)")
_CELSIUS = re.compile(
    r"°\s?([cf])\b|\bdegrees?\s(celsius|fahrenheit|centigrade)\b|^(celsius|fahrenheit)$", re.IGNORECASE
)
_WORDED = re.compile(r"\b(sq|square|cubic|cu)\.?\s([a-z]+)", re.IGNORECASE)
_DURATION = re.compile(r"p(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?", re.IGNORECASE)


def quantity(text: str) -> str | None:
    """Write a number, an amount of money or a measure in one way; None where a text is something else.

    >>> quantity("1,234.50"), quantity("$1.5M"), quantity("36 km/h"), quantity("1 h 30 min")
    ('1234.5', '1500000 USD', '10 m s^-1', '5400 s')
    >>> quantity("three dozen eggs"), quantity("at least 5")
    ('36 egg', None)
    """
    found = measure(text)
    return None if found is None else " ".join(filter(None, (decimal(found[0]), found[1])))


@lru_cache(maxsize=1 << 16)
def measure(text: str) -> tuple[Fraction, str] | None:
    """The value of a quantity in base units, and what it is a number of (empty: nothing)."""
    if len(text) > LONGEST or TWO_NUMBERS.fullmatch(text.strip()):
        return None
    plain = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text)
    plain = (
        " ".join(unify(plain).replace("⁄", "/").replace("μ", "µ").replace("Ω", "Ω").split())
        .strip("*_` \"'")
        .rstrip(".")
    )
    plain = re.sub(r"(\d)\s?([1-9])/(\d)$", r"\1 \2/\3", plain) if re.search("[½⅓⅔¼¾⅛]", text) else plain
    plain = re.sub(r"\bper cent\b", "percent", plain)
    while shorter := _ROUGH.match(plain.casefold()):
        plain = plain[shorter.end() :]
    if lasting := _DURATION.fullmatch(plain):
        parts = [int(part or 0) for part in lasting.groups()]
        if any(lasting.groups()):
            seconds = parts[1] * 604800 + parts[2] * 86400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
            return (Fraction(parts[0] * 12), "month") if parts[0] and not seconds else (Fraction(seconds), "s")
    plain = _WORDS.sub(lambda words: _digits(words[0]), plain.casefold()) if _WORDS.match(plain.casefold()) else plain
    try:
        return _sum(plain)
    except (ZeroDivisionError, ValueError):
        return None


@lru_cache(maxsize=1 << 16)
def bare_number(text: str) -> tuple[Fraction, str] | None:
    """The number of a quantity as it is written, and what it is a number of, whatever unit that is.

    >>> bare_number("5 km"), bare_number("$72")
    ((Fraction(5, 1), 'm'), (Fraction(72, 1), 'USD'))
    """
    found = measure(text)
    if found is None:
        return None
    plain = _WORDS.sub(lambda words: _digits(words[0]), text.casefold())
    number = _NUMBER.search(plain.strip()) if found[1] else None
    written = re.search(r"\d", plain)
    value = _value(plain[written.start() :].strip()) if number and written else None
    return (value[0] if value else found[0]), found[1]


def _sum(plain: str) -> tuple[Fraction, str] | None:
    """One quantity, or several of one kind side by side: 2 hours 15 minutes."""
    total: Fraction | None = None
    kind = ""
    rest = plain.strip()
    while rest:
        found = _one(rest)
        if found is None:
            return None
        value, measured, rest = found
        if total is not None and (measured != kind or not kind or value < 0):
            return None
        total, kind = value if total is None else total + value, measured
        rest = re.sub(r"^(?:\s|,|and\b)+", "", rest)
    return None if total is None or abs(total) > _LARGEST else (total, kind)


def _one(text: str) -> tuple[Fraction, str, str] | None:
    """The first quantity of a text: its value, what it measures, and the rest."""
    unit: Unit = (Fraction(1), ())
    sign = 1
    if money := _MONEY.match(text):
        unit = _folded()[money[2].casefold().rstrip(".")]
        sign, text = (-1 if money[1] == "-" else 1), text[money.end() :]
    number = _value(text)
    if number is None:
        return None
    value, rest = number
    if scale := _SIZES.match(rest):
        word = scale[1]
        size = {"M": 10**6, "B": 10**9, "K": 1000}.get(word, _SCALES.get(word.casefold(), 0))
        if size and (word not in "kKMB" or (money and not rest[scale.end() :].strip()) or word == "k" == rest.strip()):
            value, rest = value * size, rest[scale.end() :]
    value *= sign
    if warm := _CELSIUS.match(rest.strip()):
        name = "".join(filter(None, warm.groups())).casefold()
        kelvin = (value - 32) * 5 / 9 if name[0] == "f" else value
        return kelvin + Fraction("273.15"), "K", rest.strip()[warm.end() :]
    measured, rest = _measured(rest)
    if measured is None:
        return None
    factor, name = measured
    powers = dict(unit[1])
    for base, power in factor[1]:
        if not (money and base == unit[1][0][0]):  # "$50 USD" says it twice.
            powers[base] = powers.get(base, 0) + power
    shown = " ".join(base if power == 1 else f"{base}^{power}" for base, power in sorted(powers.items()) if power)
    return value * factor[0], " ".join(filter(None, (shown, name))), rest


def _value(text: str) -> tuple[Fraction, str] | None:
    if found := _FRACTION.match(text):
        value = Fraction(int(found["above"]), int(found["below"])) + int(found["ones"] or 0)
        return (-value if found["sign"] == "-" else value), text[found.end() :]
    found = _NUMBER.match(text)
    if found is None or not (found["whole"] or found["point"] or found["hex"]) or len(found[0]) > 60:
        return None
    sign = -1 if found["sign"] == "-" else 1
    if found["hex"]:
        return Fraction(sign * int(found["hex"], 16)), text[found.end() :]
    whole, point = found["whole"] or "0", (found["point"] or "").replace(",", ".")
    value = Fraction(re.sub(r"[, '_.]", "", whole) + point)
    value *= Fraction(10) ** int(found["power"] or found["exponent"] or 0)
    return sign * value, text[found.end() :]


def _measured(text: str) -> tuple[tuple[Unit, str] | None, str]:
    """The units at the beginning of a text, or the word for what is counted; None where neither is there."""
    if not text.strip() or re.match(r"\s?,?\s?(?:and\s)?[+-]?\d", text):
        return ((Fraction(1), ()), ""), text
    if re.match(r"[.,:;/]?\d|\s?[-–~<>±:=]|\s?(?:or|to|and)\b", text):
        return None, text
    rest = _WORDED.sub(lambda worded: f"{worded[2]}^{2 if worded[1][:2].casefold() == 'sq' else 3}", text.lstrip(" -"))
    factor, powers = Fraction(1), dict[str, int]()
    place = 0
    while found := _FACTOR.match(rest, place):
        known = _units().get(found["name"]) or _folded().get(found["name"].casefold())
        if known is None:
            break
        power = int((found["power"] or "1").strip(" ^()")) * (-1 if found["over"] else 1)
        if abs(power) > 9:
            return None, text
        factor *= known[0] ** power
        for base, each in known[1]:
            powers[base] = powers.get(base, 0) + each * power
        place = found.end()
        if re.match(r"\s(?![a-zµΩ/*·⋅]|per\b)|,|\sand\b|\s?$", rest[place:]):
            break
    if place:
        left = rest[place:]
        old = re.match(r"\s(?:old|long|tall|wide|high|away|deep)\b", left)
        return ((factor, tuple(powers.items())), ""), left[old.end() :] if old else left
    noun = re.fullmatch(r"([a-z]{3,20})", rest.strip(), re.IGNORECASE)
    if noun is None:
        return None, text
    word = noun[1].casefold()
    return ((Fraction(1), ()), word[:-1] if word.endswith("s") and not word.endswith("ss") else word), ""


def _digits(words: str) -> str:
    """Turn number words into digits."""
    if words.startswith("half a"):
        return str(Fraction(_SCALES.get(words.split()[-1], 0), 2)) if len(words.split()) == 3 else words
    total, part = 0, 0
    for word in re.findall(rf"\b(?:{_WORD})\b", words):
        if word in _SPELLED:
            part += _SPELLED[word]
        elif word in ("hundred", "dozen"):
            part = max(part, 1) * _SCALES[word]
        else:
            total, part = total + max(part, 1) * _SCALES[word], 0
    return str(total + part)


def decimal(value: Fraction) -> str:
    """Show a fraction exactly: as a decimal where that ends, as a/b where it does not."""
    below, twos, fives = value.denominator, 0, 0
    while below % 2 == 0:
        below, twos = below // 2, twos + 1
    while below % 5 == 0:
        below, fives = below // 5, fives + 1
    if below > 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
