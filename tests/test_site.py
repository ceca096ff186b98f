"""Tests that the site built by `make docs` contains every page and documents every public name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import yaml

import backends
import engine
import proofs
from tests.support.pages import spans

ROOT = Path(__file__).resolve().parents[1]


def hooks() -> Any:
    """The module `docs/hooks.py`, loaded from the file because it belongs to no package."""
    spec = spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(nav: list[Any]) -> Iterator[str]:
    """Yield the paths of the pages in a navigation, at any depth."""
    for entry in nav:
        below = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(below, list):
            yield from named(below)
        else:
            yield below


def test_the_navigation_names_every_page_once() -> None:
    """Each page is in the navigation exactly once, and each page in the navigation exists."""
    site = hooks()
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = [path for path in named(site.expanded(nav)) if not path.startswith("api/")]
    assert sorted(pages) == sorted(site.matching(site.PAGES))


def test_a_folder_in_the_navigation_stands_for_its_pages() -> None:
    """An entry that ends in a slash is replaced by the pages of that folder, the index first."""
    found = hooks().expanded([{"Agents": ["docs/clients/"]}, "docs/none/"])
    assert found[1:] == []
    pages = found[0]["Agents"]
    assert pages[0] == "docs/clients/README.md"
    assert sorted(pages) == sorted(
        f"docs/clients/{page.name}" for page in (ROOT / "docs/clients").glob("*.md")
    )


def test_a_picture_has_one_for_light_and_one_for_dark_pages() -> None:
    """The hook makes two of each, as the theme of the site needs them; none is left as HTML."""
    text = (ROOT / "docs" / "window.md").read_text(encoding="utf-8")
    found = hooks().themed(text)
    assert "<picture>" in text
    assert "<picture>" not in found
    assert (
        found.count("-light.webp#only-light)")
        == found.count("-dark.webp#only-dark)")
        == text.count("<picture>")
    )


def test_a_list_right_after_a_paragraph_is_a_list() -> None:
    """The hook inserts a blank line before a list, but not between list items, and not in a fenced block."""
    text = "Bounds:\n- one\n  more\n- two\n\n1. three\n\n```text\n$ ls\n- four\n```\n"
    assert hooks().spaced(text) == text.replace("Bounds:\n", "Bounds:\n\n")


def missing_from_site(page: Path) -> list[tuple[int, str]]:
    """Return the links and pictures of a page whose files the site does not have, each with its line."""
    site = hooks()
    files = {ROOT / path for path in site.matching(site.PAGES + site.LINKED)}
    targets = [(line, str(token.attrs["href"])) for line, token in spans(page, "link_open")]
    targets += [(line, str(token.attrs["src"])) for line, token in spans(page, "image")]
    return [
        (line, target)
        for line, target in targets
        if not target.startswith(("https://", "http://", "mailto:", "#"))
        and (page.parent / target.partition("#")[0]).resolve() not in files
    ]


@pytest.mark.parametrize("page", hooks().matching(hooks().PAGES))
def test_every_link_of_a_page_leads_to_a_file_of_the_site(page: str) -> None:
    """The site has each file that a page links to or shows; otherwise, the strict build would fail."""
    assert missing_from_site(ROOT / page) == []


def test_a_link_to_a_file_that_is_not_in_the_site_is_found(tmp_path: Path) -> None:
    """A link to a file of the repository that the site does not have is reported with its line."""
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n[settings]({ROOT}/pyproject.toml)\n", encoding="utf-8")
    assert missing_from_site(page) == [(3, f"{ROOT}/pyproject.toml")]


def test_the_reference_has_every_public_name() -> None:
    """The pages of the API reference have the names that the three packages export, each once."""
    text = "\n".join(hooks().reference().values())
    found = [line.removeprefix("::: ") for line in text.splitlines() if line.startswith("::: ")]
    exported = [
        f"{package.__name__}.{name}" for package in (engine, proofs, backends) for name in package.__all__
    ]
    assert sorted(found) == sorted(exported)
