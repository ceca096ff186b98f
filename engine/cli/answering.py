"""What a verified proof has shown, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from engine.cli.output import Shown
from engine.cli.stores import line
from engine.cli.values import counted, shown_time

if TYPE_CHECKING:
    from proofs.events import AtomBody, Header
    from proofs.verified import ListedAtom, Verified


def answer_of(fact: Verified) -> Iterator[Shown]:
    """The claim, and below it what the proof says beyond it."""
    from proofs import verified
    from proofs.words import words_of

    yield line("holds", " ".join(words_of(fact.claim)))
    match fact:
        case verified.LiveAtom() | verified.TombstonedAtom():
            if fact.body is not None:
                yield from _content(fact.body)
        case verified.AllTagged() | verified.AllMentioning():
            yield from _listed(fact.atoms)
        case verified.LoggedEvent() | verified.RecordedRoot():
            yield from _event(fact.header)
        case verified.LogPrefix():
            yield line("", f"{counted(fact.size, 'event')}, of {fact.into:,} now")
        case _:
            return


def _content(body: AtomBody) -> Iterator[Shown]:
    if body.title is not None:
        yield line("title", body.title)
    if body.source is not None:
        yield line("source", body.source)
    yield body.content


def _listed(atoms: tuple[ListedAtom, ...]) -> Iterator[Shown]:
    for atom in atoms:
        times = "" if atom.tf is None else f"  {atom.tf}×"
        yield line("", f"{UUID(bytes=atom.id)}{times}")
    yield line("", f"{counted(len(atoms), 'atom')}, and no others")


def _event(header: Header) -> Iterator[Shown]:
    yield line("", f"{header.kind.name.lower()} by {header.actor} at {shown_time(header.time)}")
