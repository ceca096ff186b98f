"""Roots of both kinds, and engines with deterministic randomness on their memories."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from engine.engine import Engine
from tests.support.engines import ticking

USUAL = "sqlite" if find_spec("plyvel") is None else "leveldb"
"""The backend of a bare path."""

ROOTS = ("folder", "file", "sqlite files")


def root_url(kind: str, folder: Path) -> str:
    """Return the URL of an empty root in `folder`: a folder, or one SQLite file."""
    return f"sqlite:{folder / 'memories.db'}" if kind == "file" else f"{folder / 'memories'}"


def begin(kind: str, url: str, name: str) -> None:
    """Create the memory; for `sqlite files` it is a SQLite file in the folder."""
    if kind == "sqlite files":
        Engine.open(f"sqlite:{url}/{name}").close()
    elif kind == "folder":
        Engine.open(f"{USUAL}:{url}/{name}").close()
    else:
        Engine.open(url, memory=name).close()


def salts_of(name: str):  # type: ignore[no-untyped-def]  # a function on seqs
    """Return salts that depend only on the memory's name and the seq."""
    return lambda seq: hashlib.sha256(f"{name} {seq}".encode()).digest()


def engine_of(url: str, name: str | None, salts: str) -> Engine:
    """Return an engine whose bytes depend only on its commands and the name of its salts."""
    return Engine.open(url, memory=name, clock=ticking(), salts=salts_of(salts))
