"""Make the golden stores: `python -m tests.golden.make`.

A golden store is an archive with a store that this version of memroot wrote. Every later version must open
it, verify it, and rebuild it to the same root. So run this once for a format, and never replace an archive
that was released: add the archives of a new format beside the old ones.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from engine.commands import Add
from engine.engine import Engine
from proofs.hashing import FORMAT
from tests.vectors.golden import changes, clock, edges, erasures, others, texts
from tests.vectors.stores import WORDS, salt

FOLDER: Final = Path(__file__).parent
BACKENDS: Final = {"leveldb": "store", "sqlite": "store.db"}
"""Scheme of a backend → the name of its store in the archive."""

BULK: Final = 600
"""Texts in addition to those of the golden journal; the index then has two segments and a tail."""


def fill(engine: Engine) -> None:
    """Write the golden journal, then further texts, so that rows of every kind exist."""
    ids = texts(engine)
    edges(engine, ids)
    changes(engine, ids)
    others(engine, ids)
    erasures(engine, ids)
    for number in range(BULK):
        first, second = WORDS[number % 13], WORDS[number // 13 % 13]
        engine.apply(
            [Add(f"Note {number}: the {first} beside the {second}.", source="bulk.md", sequence=number)]
        )
    engine.checkpoint()
    engine.add("One text after the last checkpoint.")


def main() -> None:
    """Write one archive for each backend, and the roots that they must have."""
    facts = {}
    for scheme, name in BACKENDS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            times = clock()
            with Engine.open(
                f"{scheme}:{path}", clock=times.__next__, salts=lambda seq: salt("golden", seq)
            ) as engine:
                fill(engine)
                root = engine.root()
                facts[scheme] = {"events": root.size, "root": root.root}
            archive = FOLDER / f"format-{FORMAT}-{scheme}.tar.xz"
            with tarfile.open(archive, "x:xz") as out:
                out.add(path, arcname=name, filter=_anonymous)
    if len({str(one) for one in facts.values()}) != 1:
        raise RuntimeError(f"the stores differ: {facts}")
    (FOLDER / f"format-{FORMAT}.json").write_text(json.dumps(facts, indent=2) + "\n")


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the facts about the machine on which the archive is made."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main()
