"""Pages on the command line: an argument may be the path, the title or an alias of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.time_text import Moment, shown_time
from engine.cli.labels import Labels
from engine.cli.shapes import Shown, line

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.query.named import Page, PageLink


def page_of(memory: Engine, given: str, as_of: Moment | None = None) -> Page | None:
    """Return the page with this path, title or alias; None if `given` is the id of an atom.

    Raises:
        NotFoundError: there is neither such an atom nor such a page.
        ConflictError: several pages have this name, or several ids begin with these digits.
    """
    try:
        memory.resolve(given)
    except (InvalidInputError, NotFoundError):
        return memory.page(given, as_of=as_of)
    return None


def page_lines(page: Page, named: Labels) -> Iterator[Shown]:
    """Yield the lines that show a page."""
    yield line("title", page.title)
    yield line("page", page.source)
    for alias in page.aliases:
        yield line("alias", alias)
    if page.tags:
        yield line("tags", " ".join(f"#{tag}" for tag in page.tags))
    yield line("created", shown_time(page.created))
    yield line("pieces", " ".join(map(named.id, page.ids)))
    for link in page.links:
        yield line("link", _link(link, named))
    for link in page.backlinks:
        yield line("backlink", _link(link, named))
    yield ""
    yield page.text


def _link(link: PageLink, named: Labels) -> str:
    where = link.source or named.id(link.id)
    return f"{link.title} ({where})" if link.type == "references" else f"{link.type} {link.title} ({where})"
