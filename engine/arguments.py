"""The keyword arguments of the facade's methods, for editors and type checkers only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypedDict

from engine.transfer.ingest.run import IngestProgress
from proofs.further import Scalar


class AtomFields(TypedDict, total=False):
    """What can be said of an atom beside its content."""

    title: str | None
    kind: str
    tags: Iterable[str]
    buckets: Iterable[str]
    source: str | None
    sequence: int | None
    provenance: str
    trust: int | None
    created: int | datetime | None
    meta: Mapping[str, Scalar] | None
    aliases: Iterable[str] | None
    folder: str | None


class ReviseFields(AtomFields, total=False):
    """What `Engine.revise` may change; see `engine.Revise`."""

    content: str
    force: bool


class AddFields(AtomFields, total=False):
    """What `Engine.add` takes beside the content; see `engine.Add`."""

    occurrence: int
    key: str | None
    id: str | None
    force: bool


class EraseOptions(TypedDict, total=False):
    """What `Engine.erase` takes beside id and reason; see `engine.erase.run.erase`."""

    remember: bool
    probe: bool
    actor: str | None
    told: Callable[[str], None]


class IngestOptions(TypedDict, total=False):
    """What `Engine.ingest` takes beside the paths; see `engine.transfer.ingest.run.ingest`."""

    name: str | None
    root: str | Path | None
    tags: Sequence[str]
    buckets: Sequence[str]
    provenance: str
    prune: bool
    sure: bool
    force: bool
    dry_run: bool
    progress: Callable[[IngestProgress], None]
