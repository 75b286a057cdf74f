"""Lines that tools print, cut to the field that was asked for: mmls, fls, reglookup."""

import re

_MMLS = re.compile(
    r"\s*\d+:\s+(?:\d+:)?(?:\d+|-+|Meta)\s+(?P<start>\d{6,})\s+(?P<end>\d{6,})\s+(?P<length>\d{6,})\s+(?P<name>\S.*)"
)
_FLS = re.compile(r"\s*[-\w]/[-\w]\s+(?:\*\s+)?(?P<inode>\d+)(?:-\d+-\d+)?(?:\(realloc\))?:\s+(?P<name>[^\t]+).*")
_REGLOOKUP = re.compile(r"(?P<path>/[^,]*),(?P<type>KEY|[A-Z_0-9]+),(?P<value>[^,]*)(?:,(?P<time>[^,]*))?.*")
# Which field of `mmls` a question is about.
_ASKED = {
    "start": r"\b(?:start|begin|first|offset)", "end": r"\bend", "length": r"\b(?:long|length|size|sectors)\b",
    "name": r"\b(?:type|file system|description)\b",
}  # fmt: skip


def field(line: str, asked: str, *, number: bool) -> str:
    """Return the field of a tool's line that a question asks for, or the line as it is.

    >>> field("r/r * 1043:\\tnotes/burn.txt", "Which inode?", number=True)
    '1043'
    >>> field("r/r * 1043:\\tnotes/burn.txt", "Which file?", number=False)
    'notes/burn.txt'
    """
    if found := _MMLS.fullmatch(line):
        named = [name for name, words in _ASKED.items() if re.search(words, asked, re.IGNORECASE)]
        return found[named[0]] if named else line
    if found := _FLS.fullmatch(line):
        return found["inode"] if number else found["name"]
    if found := _REGLOOKUP.fullmatch(line):
        return found["value"] if number or re.search(r"\b(?:data|content|set to)\b", asked) else found["path"]
    return line
