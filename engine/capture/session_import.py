"""Take in the sessions of a client: turns become atoms, and each session an atom of the kind `session`.

The atom of a session records how far its transcript was read. It is written after the turns, so a process
that is killed leaves turns that are read again, and turns that are there already change nothing. A session
whose atom was hidden or erased is not read any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from engine.capture.clients import Client
from engine.capture.served import Given, Receipt, receipts
from engine.capture.transcripts import TOOL, USER, Record, Transcript, Turn, day_of, project_tag, source_of
from engine.commands.secrets.policy import Mode, SecretsPolicy
from engine.exchange.other_programs.item_atoms import ImportReport, import_read
from engine.exchange.other_programs.program_items import Item, Omitted, split_text
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import checked_source, title_of
from engine.ledger.queries import body_of
from engine.ledger.records import id_of_key, read_atom
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from proofs.events import Scalar
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

_DAY: Final = "day"
"""The key of meta under which the atom of a session has the day of its first turn, if it has one."""


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
        known: list[Receipt] | None = None
        for one in transcripts:
            before = _meta(store, client, one)
            if before is None:
                yield Omitted(("hidden or erased session",))
            elif (start := _position(before)) != one.end:
                known = list(receipts(store)) if known is None else known
                given, day = Given(store, one.session, known), str(before.get(_DAY, ""))
                reading = _Reading(client, one, provenance, policy, given, day)
                yield from reading.items(start if start < one.end else 0, bytes_max)

    return import_read(
        store,
        client.name,
        items(),
        provenance="external",
        buckets=buckets,
        dry_run=dry_run,
        progress=progress,
    )


def position(store: Store, client: Client, transcript: Transcript) -> int | None:
    """Return the position to read a transcript from; None if the atom of the session was hidden or erased."""
    meta = _meta(store, client, transcript)
    return None if meta is None else _position(meta)


def _position(meta: Mapping[str, Scalar]) -> int:
    read = meta.get(_READ)
    return read if isinstance(read, int) else 0


def _meta(store: Store, client: Client, transcript: Transcript) -> Mapping[str, Scalar] | None:
    """Return the meta of the atom of a session; None if the atom was hidden or erased."""
    source, rows = source_of(client.name, transcript.session), store.backend
    record = read_atom(rows, id_of_key(store.identity.id_key, source, SESSION))
    if record is None:
        return {}
    return body_of(rows, record).meta or {} if record.state is State.LIVE else None


@dataclass(frozen=True, slots=True)
class _Reading:
    """The reading of one transcript."""

    client: Client
    transcript: Transcript
    provenance: str | None
    policy: SecretsPolicy | None
    given: Given
    day: str
    """The day of the first turn, if one was read before and has a time."""

    def items(self, start: int, bytes_max: int) -> Iterator[Item | Omitted | Skipped]:
        """Yield the turns from a position on, and at last the session."""
        name, path = self.client.name, self.transcript.path
        try:
            source = checked_source(source_of(name, self.transcript.session))
        except BadItemError as error:
            yield Skipped(path.name, str(error))
            return
        read, seen, day = start, set[str](), self.day
        for record in self.client.read(self.transcript, start):
            if record.key in seen:
                yield Omitted(("repeated line",))
            else:
                seen.add(record.key)
                for item in self._turns(source, record):
                    day = day or day_of(item.created if isinstance(item, Item) else None)
                    yield item
            read = record.end
            if read - start >= bytes_max:
                break
        if read != start:
            project, session = self.transcript.project, self.transcript.session
            # The text is the session's own: if one session is erased, the text of another is not refused.
            text = (
                f"Session {session} of {name}{f' in {project}' if project else ''}{f', {day}' if day else ''}"
            )
            yield Item(
                path.name,
                None,
                source,
                SESSION,
                (text,),
                kind=SESSION,
                tags=_tags(self.transcript),
                provenance=self.provenance,
                meta={_READ: read, _DAY: day, "project": project[:200]},
            )

    def _turns(self, source: str, record: Record) -> Iterator[Item | Omitted | Skipped]:
        where, pieces = self.transcript.path.name, 0
        for number, turn in enumerate(record.parts):
            if isinstance(turn, str):
                yield Omitted((turn,))
                continue
            text, is_output = self._text(turn), turn.role == TOOL
            if not text.strip():
                yield Omitted(("turn without text",))
                continue
            try:
                parts = (text,) if is_output else split_text(text, _LABELS.get(turn.role, "Assistant"))
            except BadItemError as error:
                yield Skipped(where, f"{record.key}: {error}")
                continue
            yield Item(
                where,
                None,
                source,
                record.key if number == 0 else f"{record.key}.{number}",
                parts,
                title=self._title(turn),
                kind=OUTPUT if is_output else "message",
                tags=_tags(self.transcript),
                sequence=record.at + pieces,
                created=turn.created,
                provenance=self.provenance or _PROVENANCES.get(turn.role),
            )
            pieces += len(parts)

    def _text(self, turn: Turn) -> str:
        """Return what is kept of a turn: nothing that the session was given, no middle of a long text."""
        # An atom cannot have NUL characters, and its line ends are line feeds.
        text = turn.text.replace("\0", "").replace("\r\n", "\n")
        text = self.given.cleared(turn.role, text, turn.created)
        most = OUTPUT_CHARS if turn.role == TOOL else TURN_CHARS
        if len(text) <= most:
            return text
        head, tail = most * 3 // 4, most // 4
        left = len(text) - head - tail
        begin, end = text[: head + MARGIN_CHARS], text[-tail - MARGIN_CHARS :]
        if self.policy is not None:
            begin, end = self.policy.clean(begin)[0], self.policy.clean(end)[0]
        return f"{begin[:head]}\n[… {left:,} characters left out …]\n{end[-tail:]}"

    def _title(self, turn: Turn) -> str | None:
        """Return the project and the day of a turn, and the file that it is about."""
        return title_of(" ".join(filter(None, (self.transcript.project, day_of(turn.created), turn.file))))


def _tags(transcript: Transcript) -> tuple[str, ...]:
    tag = project_tag(transcript.project)
    return () if tag is None else (tag,)
