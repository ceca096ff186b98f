"""The command rescue, which recovers the journal of a damaged store."""

from __future__ import annotations

from collections.abc import Iterator

from engine.base.errors import VerificationError
from engine.base.time_text import shown_time
from engine.cli.command import argument, command, option
from engine.cli.output import Failure, plain
from engine.cli.session import Session
from engine.cli.shapes import Line, counted, line
from engine.exchange.rescue.run import Rescued
from engine.exchange.rescue.run import rescue as rescue_store
from engine.store.named_places import memory_url


@command("engine rescue notes -o notes-rescued", "engine rescue sqlite:notes.db -o sqlite:rescued.db --json")
@argument("source", "STORE", "The damaged store.")
@option("--output", "-o", metavar="NEW", required=True, help="The path or URL of the new store.")
@option("--erase-lost", help="Keep the events after lost content; erase the content's atom in the new store.")
@option("--unconfirmed", help="Keep events even if the log's hashes do not confirm their headers.")
def rescue(session: Session, source: str, output: str, erase_lost: bool, unconfirmed: bool) -> int:
    """Make a new store from the journal that is left in a damaged store.

    Takes the longest valid journal, verifies the new store, and prints what was found and what is lost. The
    damaged store is only read. With --memory, STORE holds several memories. Exit code 4: events are lost; the
    new store has the events before the lost ones.
    """
    if session.memory is not None:
        source = memory_url(source, session.memory)
    with session.meter("rescued", "events") as move:
        found = rescue_store(source, output, move, erase_lost=erase_lost, unconfirmed=unconfirmed)
    data = {"source": source, "target": output, "complete": found.complete, **plain(found)}
    failure = None
    if not found.complete:
        failure = Failure.of(
            VerificationError(
                f"the rescue lost {_loss(found)}",
                hint=f"{output} has everything else; a backup or a copy may have more",
            )
        )
    return session.out.answer(data, _rescue_report(found), failure=failure)


def _rescue_report(found: Rescued) -> Iterator[Line]:
    yield line("backend", found.backend)
    for reading in found.readings:
        yield line("read", f"{reading.way}: {reading.rows:,} rows")
        for problem in reading.problems:
            yield line("problem", problem)
    yield line("found", f"{found.found:,} events")
    yield line("rescued", f"{found.events:,} events")
    yield line("last event", shown_time(found.last_event))
    yield line("covered", f"the first {found.proved:,} events by the log's own hashes")
    for seq in found.repaired:
        yield line("corrected", f"one bit in event {seq}, as its hash proves")
    for seq in found.lost_contents:
        yield line("no content", f"event {seq}")
    if more := found.contents_lost - len(found.lost_contents):
        yield line("no content", f"{more:,} more events")
    for atom in found.erased:
        yield line("erased", atom)
    if more := found.atoms_erased - len(found.erased):
        yield line("erased", f"{more:,} more atoms")
    yield line("lost", _loss(found) if not found.complete else "nothing that is known")
    if found.reason and not found.lost:
        yield line("left out", found.reason)
    yield line("root", found.root)


def _loss(found: Rescued) -> str:
    if not found.lost:
        return counted(found.contents_lost, "content")
    return f"{found.lost:,} of {found.recorded:,} events: {found.reason}"
