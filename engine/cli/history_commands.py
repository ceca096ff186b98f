"""Commands on the history: history, log, root, diff, why, and revert."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engine.base.errors import InconsistentError, InvalidInputError, translated
from engine.base.json_text import dumped, encode
from engine.base.outside_files import read_file
from engine.base.times import Moment, parse_moment, shown_time
from engine.cli.cli_output import counted
from engine.cli.cli_session import DEFAULT_ACTOR, Session
from engine.cli.command_declaration import Natural, Positive, command
from engine.cli.shared_options import AsOf
from engine.cli.shown_labels import Labels, ids_in, labels, names_of_devices
from engine.cli.shown_parts import Line, Shown, Table
from engine.query.history.diff import AtomChange, Diff, EdgeChange
from engine.query.history.why import Origin
from engine.store.revert import Undone
from proofs.note import NOTE_BYTES_MAX

if TYPE_CHECKING:
    from engine.base.model import HistoryItem


LAST = 20
"""The default number of events that `log` lists."""


@command("engine history 1f0c")
def history(session: Session, atom: str, *, as_of: AsOf | None = None) -> int:
    """List all events of an atom, oldest first."""
    with session.reading(as_of) as memory:
        changes = memory.history(memory.resolve(atom))
        named = labels(session, memory, ids_in(one.subject for one in changes))
    return session.out.answer(encode(changes), [_table(changes, named)])


@command(
    "engine log",
    "engine log --from 0 --limit 100",
    "engine log --from 0 --jsonl",
    "engine log export public",
)
def log(
    session: Session,
    action: str | None = None,
    folder: str | None = None,
    *,
    start: Natural | None = None,
    limit: Positive | None = None,
    jsonl: bool = False,
    note: str | None = None,
    as_of: AsOf | None = None,
) -> int:
    """List the events of the journal, oldest first.

    Without --from, lists the last events. `export DIR` writes the hashes and headers of the log, without
    any content, as files for a web server (c2sp.org/tlog-tiles). Exporting again adds the new events.

    Args:
        action: `export` Export the log as static files.
        folder: `DIR` The folder to write to: new, empty, or an earlier export.
        start: `--from SEQ` The first event to list.
        limit: `-n` At most N events. [default: 20]
        jsonl: Print every event as one line of JSON, without a limit.
        note: `--checkpoint FILE` Export up to and including this checkpoint.
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
                session.out.json_line(encode(item))
            return 0
        listed = list(events)
        named = labels(session, memory, ids_in(one.subject for one in listed))
    return session.out.answer(encode(listed), [_table(listed, named)])


def _export(session: Session, folder: str | None, note: str | None) -> int:
    from engine.base.outside_files import read_file
    from engine.trust.tiles import export
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
    return session.out.answer(encode(done), [f"{done.size} {done.log_root}"])


def _contradicted(session: Session, error: InconsistentError, folder: Path) -> int:
    """Report that the store contradicts an exported log, and return exit code 9.

    The evidence is saved beside the folder of the export, not in it, because the folder may be public.
    """
    from engine.cli.checkpoint_commands import contradicted
    from engine.trust.tiles import published_notes

    notes = [note for note in published_notes(folder) if note.checkpoint.text == error.known]
    named = folder.resolve() if folder.name in {"", ".."} else folder
    return contradicted(session, error, {str(named): notes[0] if notes else None})


@command("engine root", "engine root --as-of 2026-11-01", "engine root --state", "engine root --json")
def root(session: Session, *, as_of: AsOf | None = None, state: bool = False) -> int:
    """Print the overall root: 64 hex digits.

    The root commits to everything in the store. `engine verify-root --expect HEX` checks it.

    Args:
        state: Print the digest of the state instead, which is the same on all devices after a full exchange.
    """
    with session.engine() as engine:
        root_hash = engine.root(as_of=as_of, state=state)
    return session.out.answer(encode(root_hash), [root_hash.state or root_hash.root])


def _table(items: Iterable[HistoryItem], named: Labels) -> Table:
    rows = (
        (
            str(one.seq),
            shown_time(one.time),
            one.kind.word,
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
    text = dumped(encode(shown), spaces=True) if shown else ""
    return text if len(text) <= 120 else text[:119] + "…"


@command("engine diff 41", "engine diff 2026-11-01 2026-11-20", "engine diff kept.checkpoint")
def diff(session: Session, before: str, after: str | None = None) -> int:
    """Show what changed between two moments.

    Lists the net change of each atom and each edge; a change that was undone is not listed.

    Args:
        before: `A` The earlier moment: a SEQ, a TIME, or a checkpoint file.
        after: `B` The later moment: a SEQ, a TIME, or a checkpoint file. [default: now]
    """
    first, last = _moment(before), None if after is None else _moment(after)
    with session.engine() as engine:
        changes = engine.diff(first, last)
        ends = (end for edge in changes.edges for end in (edge.src, edge.dst))
        named = labels(session, engine, [*(atom.id for atom in changes.atoms), *ends])
    data = encode(changes)
    for shown, atom in zip(data["atoms"], changes.atoms, strict=True):
        shown["lines"] = atom.lines()
    return session.out.answer(data, _in_text(changes, named), count=len(changes.atoms) + len(changes.edges))


_SEQ: Final = re.compile("0|[1-9][0-9]{0,17}")
"""The one spelling of the seq of an event."""


def _moment(given: str) -> Moment | str:
    """Return the moment that an argument names: a seq, a time, or the text of a checkpoint file."""
    if not _SEQ.fullmatch(given) and Path(given).is_file():
        return read_file(given, NOTE_BYTES_MAX).decode(errors="replace")
    try:
        return parse_moment(given, "the moment")
    except InvalidInputError as error:
        raise InvalidInputError(f"{error}, nor the path of a checkpoint file", hint=error.hint) from None


_MARKS = {"added": "+", "revived": "+", "tombstoned": "-", "erased": "-", "changed": "~"}
_STYLES = {"+": "green", "-": "red", "~": "yellow"}


def _in_text(found: Diff, named: Labels) -> Iterator[Line]:
    for atom in found.atoms:
        mark = _MARKS[atom.change]
        yield ((f"{mark} ", _STYLES[mark]), (named.id(atom.id), "cyan"), (f"  {_about(atom, named)}", ""))
        for line in _details(atom):
            yield (("    ", ""), (line, _STYLES.get(line[:1], "")))
    for edge in found.edges:
        mark = "-" if edge.change in {"removed", "erased"} else _MARKS[edge.change]
        yield (
            (f"{mark} ", _STYLES[mark]),
            (_edge(edge, named), "cyan"),
            (_why(edge.reason), ""),
        )
    yield ((_summary(found), "dim"),)


def _edge(edge: EdgeChange, named: Labels) -> str:
    ends = [f"{named.id(end)} {named.name(end)}".rstrip() for end in (edge.src, edge.dst)]
    return f" {edge.type} ".join(ends)


def _about(atom: AtomChange, named: Labels) -> str:
    return f"{atom.change}  {named.name(atom.id)}".rstrip() + _why(atom.reason)


def _why(reason: str) -> str:
    return f": {reason}" if reason else ""


def _details(atom: AtomChange) -> list[str]:
    fields = [
        f"~ {name}: {_value(encode(was, name))} → {_value(encode(now, name))}"
        for name, (was, now) in atom.fields.items()
    ]
    return [*fields, *atom.lines()]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _summary(found: Diff) -> str:
    parts = [
        counted(found.events, "event"),
        counted(len(found.atoms), "atom"),
        counted(len(found.edges), "edge"),
    ]
    if found.predicates:
        parts.append(f"predicates registered: {', '.join(found.predicates)}")
    if found.checkpoints:
        parts.append(f"checkpoints at {', '.join(map(str, found.checkpoints))}")
    return "; ".join(parts)


@command("engine revert 41..45", "engine revert --actor dreamer --since 2026-11-20 --dry-run")
def revert(
    session: Session,
    events: str | None = None,
    *,
    by: str | None = None,
    since: AsOf | None = None,
    until: AsOf | None = None,
    dry_run: bool = False,
) -> int:
    """Undo events by appending events that do the opposite.

    If a later event changed the same item again, that item is not reverted but listed. The history is kept,
    so a revert can be reverted. Erased content stays erased. --actor selects events by their actor; --by sets
    the actor of the revert.

    Args:
        events: `SEQ..SEQ` A range of events, or a single event.
        by: The actor recorded for the revert. [default: user]
        since: Undo the events from this event or time on.
        until: Undo only the events before this event or time.
        dry_run: Show what would be undone; change nothing.
    """
    first, last = _range(events, since, until)
    whose = session.actor if "actor" in session.given else None
    session.actor = by or DEFAULT_ACTOR
    with session.engine() as engine:
        done = engine.revert(first, last, actor=whose, dry_run=dry_run)
        named = labels(session, engine, ids_in(one.subject for one in done))
    if whose is not None and not done:
        session.out.note(f"no event in this range was written by {whose}")
    undone = sum(one.outcome == "undone" for one in done)
    left = sum(bool(one.left) for one in done)
    verb = "would be undone" if dry_run else "taken back"
    rest = f"; not undone: {left}" if left else ""
    session.out.note(f"{verb}: {undone} of {counted(len(done), 'subject')}{rest}")
    return session.out.answer(encode(done), [_undone(one, named) for one in done])


def _range(events: str | None, since: Moment | None, until: Moment | None) -> tuple[Moment, Moment | None]:
    if (events is None) == (since is until is None):
        raise InvalidInputError("no events were given: give SEQ..SEQ, one SEQ, --since or --until")
    if events is None:
        return 1 if since is None else since, until
    start, dots, end = str(events).partition("..")
    if not _SEQ.fullmatch(start) or (dots and not _SEQ.fullmatch(end)):
        raise InvalidInputError(f"{str(events)[:40]!r} is not a range of events", hint="example: 41..45")
    first, last = int(start), int(end if dots else start)
    if first > last:
        raise InvalidInputError(f"event {first} is after event {last}; give the earlier one first")
    return first, last + 1


def _undone(one: Undone, named: Labels) -> Shown:
    seqs = ", ".join(map(str, one.seqs))
    by = f" by {', '.join(map(str, one.events))}" if one.events else ""
    said = [] if one.outcome == "left" else [one.outcome + by]
    said += [f"not undone: {'; '.join(one.left)}"] if one.left else []
    return ((f"{seqs} ", "cyan"), (f"{named.subject(one.subject)}  ", ""), ("; ".join(said), "dim"))


@command("engine why 1f0c")
def why(session: Session, atom: str, *, as_of: AsOf | None = None) -> int:
    """Show where an atom comes from and who changed it.

    Follows `derived_from` and `supersedes` edges, and the sources of relations.
    """
    with session.reading(as_of) as memory:
        origins = memory.why(memory.resolve(atom))
        newer = (after.id for one in origins for after in one.superseded_by)
        named = labels(session, memory, [*(one.id for one in origins), *newer])
        devices = names_of_devices(memory, (cause.device for one in origins for cause in one.causes))
    lines = [line for one in origins for line in _origin(one, named, devices)]
    return session.out.answer(encode(origins), lines)


def _origin(one: Origin, named: Labels, devices: Mapping[str, str]) -> Iterator[Line]:
    indent = "  " * one.hops
    by = f"{one.by} " if one.by else ""
    state = "" if one.state.name == "LIVE" else f"  {one.state.name.lower()}"
    yield (
        (f"{indent}{by}", "dim"),
        (named.id(one.id), "cyan"),
        (f"  {named.name(one.id)}{state}".rstrip(), ""),
    )
    if one.state.name != "ERASED":  # an erased atom no longer has a source, kind or key
        place = f"{one.source} {one.sequence}" if one.sequence is not None else one.source
        key = f", key {one.key}" if one.key else ""
        trust = f", trust {one.trust}" if one.trust is not None else ""
        yield ((f"{indent}  from {place or 'no source'}{key}; {one.kind}, {one.provenance}{trust}", ""),)
    for newer in one.superseded_by:
        why = f": {newer.reason}" if newer.reason else ""
        by = f"superseded by {named.id(newer.id)}, {shown_time(newer.at)} by {newer.actor}{why}"
        yield ((f"{indent}  {by}", "yellow"),)
    for given in one.shown:
        session = f" session {given.session}" if given.session else ""
        yield ((f"{indent}  shown {shown_time(given.at)} to {given.to}{session}", "dim"),)
    for cause in one.causes:
        name = "" if cause.device is None else devices.get(cause.device) or cause.device[:8]
        device = name and f" on device {name}"
        what = f"{cause.seq} {shown_time(cause.time)} {cause.what} by {cause.actor}{device}"
        yield ((f"{indent}  {what}", "dim"),)
