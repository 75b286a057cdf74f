"""Every link in the documentation leads somewhere: files, headings, and pages of the site. Nothing is fetched."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from support.pages import DOCS, ROOT

FOLDERS = ("docs", "forensic", "examples", "src", "deploy", "benchmarks")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
ELSEWHERE = ("http://", "https://", "mailto:")


@cache
def prose(page: Path) -> str:
    """A page without its code, in which brackets mean something else."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", lambda found: found[0].strip("`").replace("[", "").replace("]", ""), text)


@cache
def headings(page: Path) -> set[str]:
    """The anchors of a page, as the site and code hosts make them."""
    return {slugify(title.strip(), "-") for title in re.findall(r"^#{1,6} (.+)$", prose(page), flags=re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    links = [link for link in LINK.findall(prose(page)) if not link.startswith(ELSEWHERE)]
    return [link for link in links if not leads_somewhere(page, link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or (target.suffix == ".md" and anchor in headings(target))


def test_pages_of_the_site_stay_in_it() -> None:
    """A link out of docs/ works in a clone and not on the site."""
    out = {
        f"{page.name}: {link}"
        for page in DOCS.rglob("*.md")
        for link in LINK.findall(prose(page))
        if not link.startswith(ELSEWHERE) and not (page.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS)
    }
    assert out == set()


def test_broken_links_are_found(tmp_path: Path) -> None:
    """The check itself: a missing file, a missing heading, and one that is there."""
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading\n[a](#a-heading) [b](#b) [c](none.md) [`d`](page.md) ![e](no.png)\n```\n[f](no.md)\n```\n"
    )
    found = [link for link in LINK.findall(prose(page)) if link != "page.md" and not link.startswith("#a-")]
    assert found == ["#b", "none.md", "no.png"]
    assert headings(page) == {"a-heading"}
