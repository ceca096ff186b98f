"""Builds the site of `mkdocs.yml` from the pages of the repository, where they are.

The site has the layout of the repository, so a relative link between pages works in both. The API reference
and `llms.txt` are made here: the reference from the public names, so that no name is left out of it.
"""

from __future__ import annotations

import ast
import re
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]

PAGES = ("*.md", "docs/**/*.md", "bench/**/*.md", "tests/vectors/README.md")
"""The pages of the site."""

LINKED = ("LICENSE", "Dockerfile", "compose.yaml", "examples/*.py", "docs/**/*.svg", "docs/**/*.webp")
"""Other files that pages link to or show; they are copied as they are."""

PICTURE = re.compile(
    r"<picture>\n"
    r'<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\n'
    r'<img alt="([^"]+)" src="([^"]+)">\n'
    r"</picture>"
)
"""A picture with another one for dark pages, as GitHub reads it."""

ENGINE_PAGES = {
    "engine": ("engine.engine", "engine.clients.asynchronous", "engine.clients"),
    "commands": ("engine.commands",),
    "records": ("engine.base.model", "engine.base"),
    "questions": ("engine.query", "engine.text.language", "engine.store.past"),
    "upkeep": ("engine",),
    "errors": ("engine.base.errors",),
}
"""Page of the reference → the modules whose public names it has; the longest that fits a name counts."""

TITLES = {
    "engine": "The engine",
    "commands": "Commands",
    "records": "Atoms, edges and events",
    "questions": "Questions and answers",
    "upkeep": "Upkeep, import and trust",
    "errors": "Errors",
    "proofs": "proofs",
    "backends": "backends",
}


def matching(patterns: tuple[str, ...]) -> list[str]:
    """Return the paths of files that match a pattern, relative to the repository; an index is first."""
    found = (path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern))
    return sorted(found, key=lambda path: (not path.endswith(("/README.md", "/index.md")), path))


def expanded(nav: list[Any]) -> list[Any]:
    """Return `nav` with each folder, an entry that ends in a slash, replaced by the pages in it."""
    entries: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, below),) = entry.items()
            entries.append({title: expanded(below)} if isinstance(below, list) else entry)
        elif entry == "api/":
            entries += [{TITLES[name]: f"api/{name}.md"} for name in TITLES]
        elif entry.endswith("/"):
            entries += matching((f"{entry}*.md",))
        else:
            entries.append(entry)
    return entries


def public_names() -> dict[str, list[str]]:
    """Return the public names of `engine` by the page that has them, in the order of `__init__.pyi`."""
    pages: dict[str, list[str]] = {name: [] for name in ENGINE_PAGES}
    for node in ast.parse((ROOT / "engine" / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            module = f"engine.{node.module}"
            fitting = [
                (len(prefix), page)
                for page, prefixes in ENGINE_PAGES.items()
                for prefix in prefixes
                if f"{module}.".startswith(f"{prefix}.")
            ]
            pages[max(fitting)[1]] += [f"engine.{alias.asname}" for alias in node.names if alias.asname]
    return pages


def listed(package: str) -> list[str]:
    """Return the names in `__all__` of a package."""
    tree = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return [f"{package}.{name}" for name in names]


def documented(name: str) -> str:
    """Return the line that mkdocstrings replaces by the documentation of a public name.

    Members without a docstring are left out, as a dataclass shows its fields in its signature. Those of an
    enum are in.
    """
    package, _, short = name.partition(".")
    found = getattr(import_module(package), short)
    an_enum = isinstance(found, type) and issubclass(found, Enum)
    return f"::: {name}\n" + "    options:\n      show_if_no_docstring: true\n" * an_enum


def reference() -> dict[str, str]:
    """Return the pages of the API reference, as text that mkdocstrings replaces by the docstrings."""
    names = public_names() | {package: listed(package) for package in ("proofs", "backends")}
    return {page: f"# {TITLES[page]}\n\n" + "\n".join(map(documented, names[page])) for page in TITLES}


def on_config(config: MkDocsConfig) -> None:
    """Expand the folders in the navigation, and read Markdown in two respects as GitHub does."""
    from markdown.inlinepatterns import ReferenceInlineProcessor
    from pymdownx.slugs import slugify

    config.nav = expanded(config.nav or [])
    # The anchors of headings; and `[ID] [STATE]` with a space is two words in brackets, not a reference.
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    ReferenceInlineProcessor.RE_LINK = re.compile(r"\[([^\]]*)\]")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files of the folder docs by those of the repository, and add the reference."""
    from mkdocs.structure.files import File

    for file in [file for file in files if file.src_dir == config.docs_dir]:
        files.remove(file)
    for path in matching(PAGES + LINKED):
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    for page, text in reference().items():
        files.append(File.generated(config, f"api/{page}.md", content=text))
    return files


def spaced(markdown: str) -> str:
    """Return `markdown` with a blank line before each list that follows a paragraph at once.

    GitHub begins a list there; Python-Markdown would go on with the paragraph.
    """
    lines: list[str] = []
    fenced = listed = False
    for line in markdown.splitlines():
        fenced ^= line.lstrip().startswith("```")
        an_item = not fenced and re.match(r"([-*]|1\.) ", line) is not None
        if an_item and not listed and lines and lines[-1].strip():
            lines.append("")
        listed = an_item or (listed and bool(line.strip()))
        lines.append(line)
    return "\n".join(lines) + "\n"


def themed(markdown: str) -> str:
    """Return `markdown` with each `<picture>` of GitHub as two pictures, of which the theme shows one.

    MkDocs does not look into HTML: it would neither check the path there nor change it for the site.
    """
    return PICTURE.sub(r"![\2](\3#only-light)\n![\2](\1#only-dark)", markdown)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Read lists and pictures as GitHub does."""
    del page, config, files
    return themed(spaced(markdown))


def on_env(env: Any, config: MkDocsConfig, files: Files) -> None:
    """Write `llms.txt`: what the project is, then the title and address of each page."""
    del env
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    first = files.get_file_from_path("README.md")
    page = None if first is None else first.page
    while page is not None:
        lines.append(f"- [{page.title}]({page.canonical_url})")
        page = page.next_page
    site = Path(config.site_dir)
    site.mkdir(parents=True, exist_ok=True)
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
