"""A reply as a string of word classes, one character a word, so that one grammar serves all languages.

The words of a language stand in `vocabulary.toml`. English always counts; beside it the language whose own words a
reply uses most. What no table knows is just a word (`w`).
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

CLASSES = {
    "answer": "N", "option": "O", "be": "B", "states": "Z", "right": "G", "wrong": "X", "choose": "C", "think": "T",
    "speaker": "S", "people": "P", "link": "J", "so": "s", "sure": "r", "filler": "t", "only": "o", "not": "!",
    "maybe": "m", "if": "i", "earlier": "e", "while": "c", "but": "b", "or": "|", "and": "&", "why": "y",
    "around": "a", "back": "k", "again": "q", "undone": "U", "also": "h", "thing": "u", "verb": "v", "ends": "z",
}  # fmt: skip
"""The character of each class of words; `L` is a letter, `D` a letter that is set apart, `#` opens a box."""
_MARKS = {
    ".": ".", "!": ".", "…": ".", "।": ".", "...": ".", "。": ".", "?": "?", "؟": "?", ",": ",", "،": ",", "、": "&",
    ";": ";", ":": ":", "=": "=", "!=": "=", "==": "=", "<=": "=", ">=": "=", "<": "=", ">": "=", "(": "(", "[": "(",
    ")": ")", "]": ")", "-": "-", "–": "-", "—": "-", "←": "-", "|": "/", "/": "|", "\n": "\n", "%": "%", "+": "w",
    "±": "w", "\x02": "*", "\x03": "#",
}  # fmt: skip
_UNSPACED = r"\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
"""Scripts in which words are not, or not always, set apart by blanks."""
_LATIN = rf"(?:[^\W{_UNSPACED}]|[\u0300-\u036f\u064b-\u0652\u0900-\u0963\u0966-\u0dff])+"
_JOINED = rf"[A-Z](?:[+#]+|\*(?![*\w]))|{_LATIN}(?:['.-]{_LATIN})*"
_OTHER = r"[!<>=]=|->|=>|\.\.\.|\n+|[^\w\s]"
_TOKEN = re.compile(rf"{_JOINED}|{_OTHER}")
_ASCII = re.compile(rf"[A-Z](?:[+#]+|\*(?![*\w]))|[A-Za-z0-9]+(?:['.-][A-Za-z0-9]+)*|{_OTHER}")
"""The same for plain English, which is most of all replies: three times as fast."""
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_LONGEST_PHRASE = 6


@dataclass(frozen=True)
class Language:
    """The words of a language by class, its phrases by their first two, and how its text is cut into words."""

    classes: dict[str, str]
    phrases: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]]
    firsts: frozenset[str]
    """The words that phrases begin with."""
    token: re.Pattern[str]
    own: frozenset[str]


@cache
def _languages() -> dict[str, Language]:
    tables = tomllib.loads(files("swaplaw.answers").joinpath("vocabulary.toml").read_text("utf-8"))
    english = _words(tables["en"])
    return {name: _language(_words(table), english, name) for name, table in tables.items()}


@cache
def _foreign() -> dict[str, list[str]]:
    """The languages that a word is of, where it is no English word."""
    names: dict[str, list[str]] = {}
    for name, language in _languages().items():
        for word in language.own:
            names.setdefault(word, []).append(name)
    return names


def _words(table: dict[str, list[str]]) -> dict[str, str]:
    return {word: CLASSES[name] for name, words in table.items() for word in words}


def _language(words: dict[str, str], english: dict[str, str], name: str) -> Language:
    every = english | words
    unspaced = sorted((word for word in words if _IS_UNSPACED.search(word)), key=len, reverse=True)
    joined = "|".join(re.escape(word) for word in unspaced) + "|" if unspaced else ""
    token = re.compile(rf"{joined}{_JOINED}|[{_UNSPACED}]|{_OTHER}")
    classes = dict(_MARKS)
    phrases: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {}
    for word, kind in every.items():
        parts = (word,) if word in unspaced else tuple(_TOKEN.findall(word))
        if len(parts) > 1:
            phrases.setdefault(parts[:2], []).append((parts, kind))
        else:
            classes.update(dict.fromkeys((word, word.capitalize(), word.upper()), kind))
    classes.update(dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "L"))
    classes.update({letter: classes.get(letter, "l") for letter in "abcdefghijklmnopqrstuvwxyz"})
    for found in phrases.values():
        found.sort(key=lambda phrase: len(phrase[0]), reverse=True)
    every_part = {part for word in words for part in (*_TOKEN.findall(word), word)}
    own = frozenset() if name == "en" else frozenset(every_part | {part.capitalize() for part in every_part})
    own -= english.keys() | {word.capitalize() for word in english}
    firsts = frozenset(parts[0] for parts in phrases)
    return Language(
        classes, phrases, firsts, token, frozenset(word for word in own if len(word) > 1 or word in unspaced)
    )


def classified(text: str) -> tuple[list[str], list[str]]:
    """Cut a text into words and marks, and say of each which class it is of."""
    languages = _languages()
    speech = languages["en"]
    tokens = (_ASCII if text.isascii() else _TOKEN).findall(text)
    if _IS_UNSPACED.search(text):
        scripts = {"ko": "[\uac00-\ud7af]", "ja": "[\u3040-\u30ff]", "zh": "[\u4e00-\u9fff]", "others": "."}
        speech = languages[next(name for name, script in scripts.items() if re.search(script, text))]
        tokens = speech.token.findall(text)
    else:
        heard = Counter(name for word in _foreign().keys() & set(tokens) for name in _foreign()[word])
        if heard:
            speech = languages[max(languages, key=lambda name: heard[name])]
    get = speech.classes.get
    classes = [get(token) or ("\n" if token[0] == "\n" else "w" if token[0].isalnum() else "") for token in tokens]
    _join(tokens, classes, speech)
    return tokens, classes


def _join(tokens: list[str], classes: list[str], speech: Language) -> None:
    """Read phrases as one word each: its class stands at the first word, and the others have none."""
    phrases = speech.phrases
    lowered = [token.lower() for token in tokens]
    free = 0
    for place in [place for place, token in enumerate(lowered) if token in speech.firsts]:
        if place < free or tuple(lowered[place : place + 2]) not in phrases:
            continue
        window = tuple(lowered[place : place + _LONGEST_PHRASE])
        for parts, kind in phrases[window[:2]]:
            if window[: len(parts)] == parts:
                free = place + len(parts)
                classes[place:free] = [kind, *[""] * (len(parts) - 1)]
                break
