"""Take in the sessions of a client: turns become atoms, and each session an atom of the kind `session`.

The atom of a session records how far its transcript was read. It is written after the turns, so a process
that is killed leaves turns that are read again, and turns that are there already change nothing. A session
whose atom was hidden or erased is not read any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from backends.base import Reader
from engine.capture.clients import Client
from engine.capture.transcripts import TOOL, USER, Record, Transcript, Turn
from engine.commands.secrets.policy import Mode, SecretsPolicy
from engine.exchange.other_programs.item_atoms import ImportReport, import_read
from engine.exchange.other_programs.program_items import Item, Omitted, split_text
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import checked_source, tag_of, title_of
from engine.ledger.queries import body_of
from engine.ledger.records import id_of_key, read_atom
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from proofs.leaves import State

BUCKET: Final = "sessions"
"""The bucket of what is taken in, unless the caller chooses another."""

SESSION: Final = "session"
"""The kind of the atom that represents a session, and its key."""

OUTPUT: Final = "tool-output"
"""The kind of atoms that are output of tools."""

OUTPUT_CHARS: Final = 800
"""The maximum number of characters of the output of a tool, which is one atom. The middle is left out."""

TURN_CHARS: Final = 100_000
"""The maximum number of characters of any other turn."""

MARGIN_CHARS: Final = 4096
"""Secrets are redacted in this many more characters than are kept: a part of a secret is not found."""

_ALL: Final = 1 << 62
_LABELS: Final = {USER: "User", TOOL: ""}
_PROVENANCES: Final = {USER: "internal", TOOL: "quarantine"}
_READ: Final = "read"
"""The key of meta under which the atom of a session has the position that was read."""


def import_sessions(
    store: Store,
    client: Client,
    transcripts: Iterable[Transcript],
    *,
    provenance: str | None = None,
    buckets: tuple[str, ...] = (BUCKET,),
    bytes_max: int = _ALL,
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> ImportReport:
    """Take in what is new in transcripts.

    Args:
        store: The store.
        client: The client whose transcripts these are.
        transcripts: The transcripts, in the order in which they are read.
        provenance: The provenance of new atoms. By default, the words of people are internal, the output of
            tools is in quarantine, and everything else is external.
        buckets: The buckets of new atoms.
        bytes_max: How far to read in each transcript: the record at which this many bytes were read is the
            last.
        dry_run: Only count the changes, without writing.
        progress: As for `import_items`.

    Raises:
        InvalidInputError: an argument breaks a rule. Nothing was written.
        SystemFailureError: a transcript cannot be read. What was read before is taken in.
    """
    secrets = store.secret_filter
    policy = None if secrets is None or secrets.policy.mode in {Mode.OFF, Mode.WARN} else secrets.policy

    def items() -> Iterator[Item | Omitted | Skipped]:
        for one in transcripts:
            start = position(store.backend, store.identity.id_key, client.name, one)
            if start is None:
                yield Omitted(("hidden or erased session",))
            elif start != one.end:
                yield from _items(client, one, start if start < one.end else 0, bytes_max, provenance, policy)

    return import_read(
        store,
        client.name,
        items(),
        provenance="external",
        buckets=buckets,
        dry_run=dry_run,
        progress=progress,
    )


def source_of(client: str, session: str) -> str:
    """Return the source of the atoms of a session."""
    return f"{client}/{session}"


def position(rows: Reader, id_key: bytes, client: str, transcript: Transcript) -> int | None:
    """Return the position to read a transcript from; None if the atom of the session was hidden or erased."""
    record = read_atom(rows, id_of_key(id_key, source_of(client, transcript.session), SESSION))
    if record is None:
        return 0
    if record.state is not State.LIVE:
        return None
    read = (body_of(rows, record).meta or {}).get(_READ)
    return read if isinstance(read, int) else 0


def _items(
    client: Client,
    transcript: Transcript,
    start: int,
    bytes_max: int,
    provenance: str | None,
    policy: SecretsPolicy | None,
) -> Iterator[Item | Omitted | Skipped]:
    """Yield the turns of a transcript from a position on, and at last the session."""
    where = transcript.path.name
    try:
        source = checked_source(source_of(client.name, transcript.session))
    except BadItemError as error:
        yield Skipped(where, str(error))
        return
    read, seen = start, set[str]()
    for record in client.read(transcript, start):
        if record.key in seen:
            yield Omitted(("repeated line",))
        else:
            seen.add(record.key)
            yield from _turns(transcript, source, record, provenance, policy)
        read = record.end
        if read - start >= bytes_max:
            break
    if read != start:
        yield Item(
            where,
            None,
            source,
            SESSION,
            (f"Session of {client.name}" + (f" in {transcript.project}" if transcript.project else ""),),
            kind=SESSION,
            tags=_tags(transcript),
            provenance=provenance,
            meta={_READ: read, "project": transcript.project[:200]},
        )


def project_tag(project: str) -> str | None:
    """Return the tag of a project; None if the project is unknown, or if its name cannot be a tag."""
    return tag_of(f"project/{project}") if project else None


def _tags(transcript: Transcript) -> tuple[str, ...]:
    tag = project_tag(transcript.project)
    return () if tag is None else (tag,)


def _turns(
    transcript: Transcript, source: str, record: Record, provenance: str | None, policy: SecretsPolicy | None
) -> Iterator[Item | Omitted | Skipped]:
    pieces = 0
    for number, turn in enumerate(record.parts):
        if isinstance(turn, str):
            yield Omitted((turn,))
            continue
        is_output = turn.role == TOOL
        text = _bounded(_harmless(turn.text), OUTPUT_CHARS if is_output else TURN_CHARS, policy)
        if not text.strip():
            yield Omitted(("turn without text",))
            continue
        try:
            parts = (text,) if is_output else split_text(text, _LABELS.get(turn.role, "Assistant"))
        except BadItemError as error:
            yield Skipped(transcript.path.name, f"{record.key}: {error}")
            continue
        yield Item(
            transcript.path.name,
            None,
            source,
            record.key if number == 0 else f"{record.key}.{number}",
            parts,
            title=_title(transcript, turn),
            kind=OUTPUT if is_output else "message",
            tags=_tags(transcript),
            sequence=record.at + pieces,
            created=turn.created,
            provenance=provenance or _PROVENANCES.get(turn.role),
        )
        pieces += len(parts)


def _title(transcript: Transcript, turn: Turn) -> str | None:
    """Return the project and the day of a turn, and the file that it is about."""
    seconds = None if turn.created is None else turn.created // 1_000_000
    day = "" if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()
    return title_of(" ".join(filter(None, (transcript.project, day, turn.file))))


def _harmless(text: str) -> str:
    """Return a text without NUL characters, which an atom cannot have, and with line ends as in an atom."""
    return text.replace("\0", "").replace("\r\n", "\n")


def _bounded(text: str, most: int, policy: SecretsPolicy | None) -> str:
    """Return a text of about `most` characters: the beginning, how much is left out, and a shorter end."""
    if len(text) <= most:
        return text
    head, tail = most * 3 // 4, most // 4
    left = len(text) - head - tail
    begin, end = text[: head + MARGIN_CHARS], text[-tail - MARGIN_CHARS :]
    if policy is not None:
        begin, end = policy.clean(begin)[0], policy.clean(end)[0]
    return f"{begin[:head]}\n[… {left:,} characters left out …]\n{end[-tail:]}"
