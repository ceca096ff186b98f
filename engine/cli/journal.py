"""Commands on the journal and its root: history, log, root."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.base.error_translation import translated
from engine.base.errors import InconsistentError, InvalidInputError
from engine.base.time_text import Moment, shown_time
from engine.cli.command import argument, command, option
from engine.cli.labels import Labels, ids_in, labels
from engine.cli.numbers import at_least
from engine.cli.options import AS_OF, ID, limit
from engine.cli.output import plain
from engine.cli.session import Session
from engine.cli.shapes import Table, counted, dumped

if TYPE_CHECKING:
    from engine.base.model import HistoryItem

LAST = 20
"""The default number of events that `log` lists."""


@command("engine history 1f0c")
@ID
@AS_OF
def history(session: Session, atom: str, as_of: Moment | None) -> int:
    """List all events of an atom, oldest first."""
    with session.reading(as_of) as memory:
        found = memory.history(memory.resolve(atom))
        named = labels(session, memory, ids_in(one.subject for one in found))
    return session.out.answer(plain(found), [_table(found, named)])


@command(
    "engine log",
    "engine log --from 0 --limit 100",
    "engine log --from 0 --jsonl",
    "engine log export public",
)
@argument("action", "export", "Export the log as static files.", required=False)
@argument("folder", "DIR", "The folder to write to: new, empty, or an earlier export.", required=False)
@option("start", "--from", metavar="SEQ", type=at_least(0), help="The first event to list.")
@limit(None, f"At most N events. [default: {LAST}]")
@option("--jsonl", help="Print every event as one line of JSON, without a limit.")
@option("note", "--checkpoint", metavar="FILE", help="Export up to and including this checkpoint.")
@AS_OF
def log(
    session: Session,
    action: str | None,
    folder: str | None,
    start: int | None,
    limit: int | None,
    jsonl: bool,
    note: str | None,
    as_of: Moment | None,
) -> int:
    """List the events of the journal, oldest first.

    Without --from, lists the last events. `export DIR` writes the hashes and headers of the log, without
    any content, as files for a web server (c2sp.org/tlog-tiles). Exporting again adds the new events.
    """
    if action is not None:
        if action != "export":
            raise InvalidInputError(
                f"unknown action {action!r}: `engine log` lists events, `engine log export DIR` exports them"
            )
        if (start, limit, as_of, jsonl) != (None, None, None, False):
            raise InvalidInputError(
                "--from, --limit, --as-of and --jsonl cannot be used with export, which writes all events"
            )
        return _export(session, folder, note)
    if note is not None:
        raise InvalidInputError("--checkpoint can only be used with `engine log export DIR`")
    with session.reading(as_of) as memory:
        many = limit or LAST
        first = max(memory.size - many, 0) if start is None else start
        events = memory.log(first, None if jsonl and limit is None else first + many)
        if jsonl:
            for item in events:
                session.out.json_line(plain(item))
            return 0
        found = list(events)
        named = labels(session, memory, ids_in(one.subject for one in found))
    return session.out.answer(plain(found), [_table(found, named)])


def _export(session: Session, folder: str | None, note: str | None) -> int:
    from engine.trust.notes.files import read_file
    from engine.trust.tiles.export import export
    from proofs.note import NOTE_BYTES_MAX

    if not folder:
        raise InvalidInputError("no folder was given: `engine log export DIR`")
    given = None if note is None else read_file(note, NOTE_BYTES_MAX)
    try:
        with session.engine() as engine, translated(), session.meter("in place", "events") as move:
            store = engine.store
            with store.view(store.log) as rows:
                done = export(rows, store.identity.store_id, Path(folder), given, move)
    except InconsistentError as error:
        return _contradicted(session, error, Path(folder))
    session.out.note(f"{counted(done.new, 'new event')}, {counted(done.files, 'file')} written")
    return session.out.answer(plain(done), [f"{done.size} {done.log_root}"])


def _contradicted(session: Session, error: InconsistentError, folder: Path) -> int:
    """Report that the store contradicts an exported log, and return exit code 9.

    The evidence is saved beside the folder of the export, not in it, because the folder may be public.
    """
    from engine.cli.contradiction import contradicted
    from engine.trust.tiles.export import published_notes

    notes = [note for note in published_notes(folder) if note.checkpoint.text == error.known]
    named = folder.resolve() if folder.name in {"", ".."} else folder
    return contradicted(session, error, {str(named): notes[0] if notes else None})


@command("engine root", "engine root --as-of 2026-11-01", "engine root --json")
@AS_OF
def root(session: Session, as_of: Moment | None) -> int:
    """Print the overall root: 64 hex digits.

    The root commits to everything in the store. `engine verify-root --expect HEX` checks it.
    """
    with session.engine() as engine:
        found = engine.root(as_of=as_of)
    return session.out.answer(plain(found), [found.root])


def _table(items: Iterable[HistoryItem], named: Labels) -> Table:
    rows = (
        (
            str(one.seq),
            shown_time(one.time),
            one.kind.name.lower(),
            one.actor,
            _subject(one, named),
            _detail(one),
        )
        for one in items
    )
    return Table(("event", "time", "what", "by", "on", "detail"), rows)


def _subject(one: HistoryItem, named: Labels) -> str:
    """Return the subject of an event. Its name is added unless the details show the text."""
    name = "" if "content" in one.detail or " " in one.subject else named.name(one.subject)
    return f"{named.subject(one.subject)} {name}".rstrip()


def _detail(item: HistoryItem) -> str:
    left_out = {"ordinal", "replaced"}
    shown = {name: value for name, value in item.detail.items() if name not in left_out and value}
    if isinstance(weight := shown.get("weight"), str):
        shown["weight"] = struct.unpack(">f", bytes.fromhex(weight))[0]
    text = dumped(plain(shown)) if shown else ""
    return text if len(text) <= 120 else text[:119] + "…"
