"""Opening drawn figures: whether anything is on them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from PIL import Image

SVG = "{http://www.w3.org/2000/svg}"


def assert_drawn(file: Path) -> None:
    """A figure has a size, more than one colour beside white, and (as SVG) marks, axes and words."""
    if file.suffix == ".png":
        with Image.open(file) as image:
            assert min(image.size) > 200
            colours = image.convert("RGB").getcolors(maxcolors=2**24)
        assert colours is not None
        inked = [colour for number, colour in colours if colour != (255, 255, 255) and number > 20]
        assert len(inked) > 8
        vivid = [colour for colour in inked if isinstance(colour, tuple) and max(colour) - min(colour) > 60]
        assert vivid, "nothing but grey: no data was drawn"
        return
    root = ElementTree.parse(file).getroot()
    marks = [
        node
        for group in root.iter(f"{SVG}g")
        if any(kind in group.get("class", "") for kind in ("mark-symbol", "mark-line", "mark-rect", "mark-area"))
        and "role-mark" in group.get("class", "")
        for node in group.iter(f"{SVG}path")
        if len(node.get("d", "")) > 4
    ]
    assert marks, f"{file.name} has axes but no marks"
    words = [node.text for node in root.iter(f"{SVG}text") if node.text]
    assert len(words) > 8
    assert "NaN" not in file.read_text()
