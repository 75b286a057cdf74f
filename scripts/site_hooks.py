"""What the documentation site needs beyond its theme: equations without scripts, and pages made from what is there.

- `$...$` and blocks between `$$` become MathML, which browsers draw by themselves, offline too.
- `{public: swaplaw.law}` lists the public names of a package, as its `__init__.pyi` has them.
- `{schemas}` describes what `--json` prints, from the schemas beside the page.
- The pages of swaplaw-forensic are pages of the site.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
_BLOCK = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<![\\$`\w])\$([^$\n`]+?)\$(?![\w$])")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
_PUBLIC = re.compile(r"^\{public: ([\w.]+)\}$", re.MULTILINE)


FORENSIC = ROOT / "forensic" / "docs"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that belong to the other distribution."""
    for page in sorted(FORENSIC.glob("*.md")):
        files.append(File(page.name, str(FORENSIC), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Fill in what is generated, then set the equations; code is left alone, where a dollar is a prompt."""
    text = _PUBLIC.sub(lambda found: public_names(found[1]), markdown)
    if "{schemas}" in text:
        text = text.replace("{schemas}", described_schemas())
    parts = _CODE.split(text)
    return "".join(part if index % 2 else equations(part) for index, part in enumerate(parts))


def equations(text: str) -> str:
    """Replace $...$ and blocks of $$ by MathML."""
    text = _BLOCK.sub(lambda found: f"\n{convert(found[1], display='block')}\n", text)
    return _INLINE.sub(lambda found: convert(found[1]), text)


def public_names(package: str) -> str:
    """One entry for every name that the package offers, at the place where it is defined."""
    stub = ROOT.joinpath("src", *package.split("."), "__init__.pyi")
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom) and node.module]
    return "\n\n".join(f"::: {package}.{node.module}.{name.name}" for node in imports for name in node.names)


def described_schemas() -> str:
    """A table of keys for every command's JSON."""
    return "\n\n".join(_described(json.loads(file.read_text())) for file in sorted(SCHEMAS.glob("*.json")))


def _described(schema: dict[str, Any]) -> str:
    lines = [f"## {schema['title']}", "", schema["description"], "", "| key | type | meaning |", "|---|---|---|"]
    return "\n".join([*lines, *_rows(schema, "")])


def _rows(schema: dict[str, Any], place: str) -> list[str]:
    rows = []
    for key, part in schema.get("properties", {}).items():
        rows.append(f"| `{place}{key}` | {_type(part)} | {part.get('description', '')} |")
        items = part.get("items", {})
        rows += _rows(part, f"{place}{key}.") + _rows(items, f"{place}{key}[].")
    return rows


def _type(schema: dict[str, Any]) -> str:
    kinds = schema.get("type", [])
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)
