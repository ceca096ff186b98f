"""Shared parts of the import tests: files, imports, and the live atoms afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from engine.base.model import Atom
from engine.engine import Engine
from engine.exchange.other_programs.item_atoms import ImportReport, import_items, live_atoms


def written(folder: Path, value: Any, name: str = "file.json") -> Path:
    """Write a file: bytes and strings unchanged, any other value as JSON."""
    file = folder / name
    raw = value if isinstance(value, bytes | str) else json.dumps(value)
    file.write_bytes(raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw)
    return file


def atoms_of(engine: Engine) -> list[Atom]:
    """Return all live atoms in the order of sources and sequences, without atoms of other programs."""
    with live_atoms(engine.store) as found:
        atoms = [found.atom(record) for record in found.records()]
    return sorted(atoms, key=lambda atom: (atom.source or "", atom.sequence or 0, atom.created_seq))


def told(engine: Engine) -> list[str]:
    """Return the contents of the live atoms."""
    return [atom.content for atom in atoms_of(engine)]


def twice(engine: Engine, form: str, path: Path) -> ImportReport:
    """Run an import as a dry run, then really, then again, and check that the results agree."""
    size = engine.size
    expected = import_items(engine.store, form, path, dry_run=True)
    assert engine.size == size
    done = import_items(engine.store, form, path)
    assert done == expected
    size = engine.size
    again = import_items(engine.store, form, path)
    assert not again.changed
    assert engine.size == size
    assert (again.items, again.left, again.skipped) == (done.items, done.left, done.skipped)
    return done


def reasons(done: ImportReport) -> list[tuple[int | None, str]]:
    """Return the line number and reason of each skipped item."""
    return [(item.line, item.reason) for item in done.skipped]


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufffe\uffff\r"), max_size=40)
"""Strings that are valid as contents if they are not blank, with short runs of combining marks."""

LINE = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "M", "Cn"]), max_size=20
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
"""Any JSON value."""


@st.composite
def mangled(draw: st.DrawFn, whole: Any) -> Any:
    """Return a copy of `whole` with arbitrary values in some places."""
    if draw(st.integers(0, 6)) == 0:
        return draw(JSON)
    if isinstance(whole, dict):
        return {key: draw(mangled(value)) for key, value in whole.items() if draw(st.integers(0, 9))}
    if isinstance(whole, list):
        return [draw(mangled(value)) for value in whole]
    return whole
