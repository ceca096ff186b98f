"""The follower `names` leads from names of pages and from aliases to atoms, and forgets erased atoms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Revise
from engine.base import limits
from engine.engine import Engine
from engine.files.ingest.folder_walk import FORMATS
from engine.followers.base import catch_up, drop
from engine.followers.names import (
    PAGE_SUFFIXES,
    NamesFollower,
    aliased,
    has_aliases,
    is_page,
    named,
    page_name,
)
from engine.ledger.journal import read_entries
from engine.ledger.layout import NAMES
from engine.text.simhash import title_hash
from tests.query.recall.support import id_of
from tests.support.engines import backend_of, engine_on

ALIASES = ("MOC", "maps of content", "Slip-Box", "the", "é")
SOURCES = ("n/Map.md", "n/deep/map.markdown", "chat#1", None)
"""Aliases and sources; the last two are of no page."""


def atom(number: int, source: str | None, aliases: list[str]) -> Add:
    """Return the command that adds an atom."""
    meta = {"page": "Stated"} if number % 3 == 0 else None
    return Add(f"text {number}", source=source, aliases=aliases, meta=meta, id=id_of(number))


histories = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(SOURCES), st.lists(st.sampled_from(ALIASES), max_size=3)),
    max_size=14,
)


def played(history: list[tuple[int, str | None, list[str]]]) -> Engine:
    """Add an atom the first time that its number comes, revise it the second time, then erase it."""
    engine, seen = engine_on(), dict[int, int]()
    for number, source, aliases in history:
        seen[number] = seen.get(number, 0) + 1
        if seen[number] == 1:
            engine.apply([atom(number, source, aliases)])
        elif seen[number] == 2:
            engine.apply([Revise(id_of(number), aliases=aliases, source=source)])
        elif seen[number] == 3:
            engine.erase(id_of(number), "not needed", probe=False)
        if number % 4 == 0:
            engine.catch_up()
    return engine


@settings(max_examples=40, deadline=None)
@given(histories)
def test_rows_do_not_depend_on_when_they_were_made(
    history: list[tuple[int, str | None, list[str]]],
) -> None:
    """Rows that were updated between commands, erasures included, are those of a new follower."""
    engine = played(history)
    engine.catch_up()
    backend = backend_of(engine)
    before = dict(backend.scan_prefix(NAMES))
    drop(backend, [NamesFollower()])
    catch_up(backend, NamesFollower(), read_entries)
    assert dict(backend.scan_prefix(NAMES)) == before


def test_rows_do_not_depend_on_the_size_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one event in each batch, the rows equal those of a single batch."""
    engine = played([(n, SOURCES[n % 4], [ALIASES[n % 5]]) for n in range(10)] * 2)
    engine.catch_up()
    backend = backend_of(engine)
    before = dict(backend.scan_prefix(NAMES))
    drop(backend, [NamesFollower()])
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 1)
    catch_up(backend, NamesFollower(), read_entries)
    assert dict(backend.scan_prefix(NAMES)) == before
    assert before


def test_names_lead_to_all_versions() -> None:
    """A page's file name, its stated title and an alias lead to the ordinals of all versions."""
    engine = played([(0, "n/Map.md", ["MOC"]), (0, "n/Map.md", ["MOC"]), (1, "n/Map.md", [])])
    engine.apply([Revise(id_of(0), content="new")])
    engine.catch_up()
    rows = backend_of(engine)
    assert named(rows, "map") == [0, 1, 2]
    assert named(rows, "STATED") == named(rows, "moc") == [0, 2]
    assert named(rows, "text") == []
    assert aliased(rows, [title_hash("MOC"), title_hash("map")]) == {title_hash("MOC"): [0, 2]}


def test_erasing_an_atom_removes_its_names() -> None:
    """After an erasure no row names the atom, and without aliases the count is gone, too."""
    engine = played([(1, "n/Map.md", ["MOC"])])
    engine.catch_up()
    assert has_aliases(backend_of(engine))
    engine.erase(id_of(1), "secret", probe=False)
    engine.catch_up()
    assert dict(backend_of(engine).scan_prefix(NAMES)) == {}
    assert engine.verify().ok


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("a/b.md", True),
        ("a/B.PDF", True),
        ("b.md", False),
        ("a/b.jsonl", False),
        ("a/b#1", False),
        (None, False),
    ],
)
def test_a_page_is_a_file_of_text_in_a_folder(source: str, page: bool) -> None:
    """Only the source of a text file is that of a page; a chat, a JSON Lines file or a bare name is not."""
    assert is_page(source) is page


def test_the_suffixes_of_pages_are_those_that_ingest_reads() -> None:
    """Each format but JSON Lines gives pages, and nothing else does."""
    assert set(PAGE_SUFFIXES) == {suffix for suffix, kind in FORMATS.items() if kind != "jsonl"}


def test_the_name_of_a_page_is_that_of_its_file() -> None:
    """The name lacks the folders and the suffix, but keeps other dots."""
    assert page_name("a/b.c/v1.2 notes.md") == "v1.2 notes"
