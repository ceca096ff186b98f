"""Everything that can be asked of a memory, of the present one or of a past one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from engine.answers import Answers
from engine.base import limits
from engine.base.error_translation import translated
from engine.base.errors import NotFoundError
from engine.base.model import Atom, Checkpoint, Direction, Edge, HistoryItem
from engine.base.validation import atom_id, choice, instance, integer, several, show_id
from engine.commands.edges import TypeName, known_type
from engine.followers.tags import LIVE, members, values
from engine.ledger.journal import read_entries, read_entry, read_log
from engine.ledger.queries import atom_of, edge_of, edges_at, resolve_id
from engine.ledger.records import read_atom, read_edge
from engine.query.filters import NO_FILTERS, Filters
from engine.query.graph.find import Follow, Form, Found, find
from engine.store.past import AsOf, atom_record_at, history_item, past_store, size_at, subject_history
from engine.store.replay import Progress, no_progress
from engine.store.status import Status, status
from proofs.basis import LogHead
from proofs.claims import Claim
from proofs.sets import Group

if TYPE_CHECKING:
    from engine.query.history.diff import Diff
    from engine.query.history.why import Origin
    from engine.transfer.mirror.report import MirrorCheck, MirrorReport
    from engine.trust.proving.prover import Proof


class Reading(Answers):
    """The queries of a memory. Each answers from one snapshot, at one head."""

    @property
    def size(self) -> int:
        """How many events the journal has."""
        with translated():
            return read_log(self.store.backend).size

    @contextmanager
    def as_of(self, moment: AsOf) -> Iterator[Reading]:
        """The memory as it was at a moment, to ask any query of."""
        with (
            translated(),
            self.store.backend.snapshot() as rows,
            past_store(rows, size_at(rows, moment)) as store,
        ):
            yield Reading(store, self.config)

    def resolve(self, id: str) -> str:  # noqa: A002
        """The whole id that a shortened one stands for: 4 or more digits that only one atom's id begins with.

        Raises:
            NotFoundError: no atom's does.
            ConflictError: several do.
        """
        with translated(), self.store.view() as rows:
            return show_id(resolve_id(rows, id))

    def tags(self) -> dict[str, int]:
        """Every tag that a live atom has, in its caseless form, and how many of them have it."""
        with translated(), self.store.view(self.store.tags) as rows:
            live = members(rows, LIVE)
            counts = ((tag, len(live & members(rows, (Group.TAG, tag)))) for tag in values(rows, Group.TAG))
            return {tag: count for tag, count in counts if count}

    def get(self, id: str, *, as_of: AsOf | None = None) -> Atom:  # noqa: A002
        """An atom, in whatever state.

        Raises:
            NotFoundError: it was never recorded, or not yet.
        """
        atom = atom_id(id)
        with translated(), self.store.view() as rows:
            record = read_atom(rows, atom)
            if record is None:
                raise NotFoundError(f"atom {show_id(atom)} was never recorded")
            if as_of is not None:
                record = atom_record_at(rows, record, size_at(rows, as_of))
            return atom_of(rows, record)

    def get_edge(self, src: str, type: TypeName, dst: str) -> Edge:  # noqa: A002
        """An edge, tombstoned or not.

        Raises:
            NotFoundError: it was never recorded.
        """
        with translated(), self.store.view() as rows:
            record = read_edge(rows, atom_id(src), known_type(rows, type), atom_id(dst))
            if record is None:
                raise NotFoundError(f"there was never an edge {src} {type} {dst}")
            return edge_of(rows, record)

    def edges(
        self,
        id: str,  # noqa: A002
        *,
        direction: Direction | str = Direction.OUT,
        types: Sequence[TypeName] = (),
        tombstoned: bool = False,
        limit: int = limits.RESULTS_MAX,
    ) -> list[Edge]:
        """The edges at an atom in the order of (type, other end), at most `limit`.

        Raises:
            NotFoundError: the atom or a type was never recorded.
        """
        with translated(), self.store.view() as rows:
            codes = [known_type(rows, kind) for kind in several(types, "types")]
            if read_atom(rows, atom_id(id)) is None:
                raise NotFoundError(f"atom {show_id(atom_id(id))} was never recorded")
            way = choice(Direction, direction, "direction")
            found = edges_at(rows, atom_id(id), way, codes, tombstoned=tombstoned)
            most = integer(limit, "limit", limits.RESULTS_MAX)
            return [edge_of(rows, record) for record in islice(found, most)]

    def find(
        self,
        *,
        limit: int,
        from_: str | None = None,
        follow: Follow | None = None,
        filters: Filters = NO_FILTERS,
        form: Form | str = Form.MEDIUM,
        as_of: AsOf | None = None,
    ) -> list[Found]:
        """Live atoms that pass `filters`: all, or those a bounded walk from one atom reaches."""
        instance(filters, Filters, "filters")
        if follow is not None:
            instance(follow, Follow, "follow")
        if as_of is not None:
            with self.as_of(as_of) as past:
                return past.find(limit=limit, from_=from_, follow=follow, filters=filters, form=form)
        with translated(), self.store.view(self.store.tags) as rows:
            return find(
                rows,
                from_=from_,
                follow=follow,
                filters=filters,
                limit=limit,
                form=choice(Form, form, "form"),
            )

    def history(self, id: str) -> list[HistoryItem]:  # noqa: A002
        """Every event on an atom, the oldest first."""
        atom = atom_id(id)
        with translated(), self.store.view() as rows:
            record = read_atom(rows, atom)
            if record is None:
                raise NotFoundError(f"atom {show_id(atom)} was never recorded")
            return [history_item(rows, entry) for entry in subject_history(rows, record.last_seq)]

    def diff(self, before: AsOf | str, after: AsOf | str | None = None) -> Diff:
        """What changed between two moments: each a seq, a time, or the text of a checkpoint note.

        Args:
            before: The earlier one.
            after: The later one; None for the head.

        Raises:
            NotFoundError: the journal does not reach so far.
            InvalidInputError: they are the wrong way round.
        """
        from engine.query.history.diff import diff, sizes

        with translated(), self.store.view() as rows:
            return diff(rows, *sizes(rows, before, after))

    def why(self, id: str) -> tuple[Origin, ...]:  # noqa: A002
        """Where an atom comes from, and what it was derived from: at most 100 atoms."""
        from engine.query.history.why import why

        with translated(), self.store.view() as rows:
            return why(rows, atom_id(id))

    def log(self, start: int = 0, stop: int | None = None) -> Iterator[HistoryItem]:
        """The events of the journal from `start` up to `stop`, as of the call."""
        start, size = integer(start, "start"), self.size
        return self._items(start, size if stop is None else min(integer(stop, "stop"), size))

    def _items(self, start: int, stop: int) -> Iterator[HistoryItem]:
        # A snapshot for each part: what is in the journal stays, and nobody's pause holds one open.
        while start < stop:
            with translated(), self.store.view() as rows:
                entries = read_entries(rows, start, min(stop, start + limits.FOLLOW_EVENTS_MAX))
                items = [history_item(rows, entry) for entry in entries]
            yield from items
            start += len(items)

    def root(self, *, as_of: AsOf | None = None) -> Checkpoint:
        """The overall root, and the roots it is made of."""
        if as_of is not None:
            with self.as_of(as_of) as past:
                return past.root()
        with translated(), self.store.view(*self.store.followers) as rows:
            return self.store.roots(rows).shown()

    def prove(
        self,
        claims: Iterable[Claim | Sequence[str]],
        *,
        as_of: AsOf | None = None,
        checkpoint: str | LogHead | None = None,
    ) -> Proof:
        """A proof of all of `claims` for somebody who does not have the store (`proofs.verify`).

        Args:
            claims: Those of `proofs`, or their words as `engine prove` takes them.
            as_of: Prove it of the memory as it was; replays up to there.
            checkpoint: A checkpoint note, or what it says, to prove against instead of the overall root.

        Raises:
            RefusedError: a claim does not hold, or the checkpoint is not of this store's log.
            NotFoundError: a claim is about what was never recorded.
        """
        from engine.trust.proving.ask import prove

        return prove(self, claims, as_of, checkpoint)

    def mirror(
        self,
        folder: str | Path,
        *,
        style: str | None = None,
        dry_run: bool = False,
        progress: Progress = no_progress,
    ) -> MirrorReport:
        """Have `folder` show every live atom as Markdown pages, as a fresh mirror would.

        Args:
            folder: A new or empty folder, or the mirror of this store, without a link on the way.
            style: `plain` or `obsidian`; None: that of the mirror that is there, else plain.
            dry_run: Only count what would be done.
            progress: Told how many atoms are written.

        Raises:
            RefusedError: the folder is or could be anybody else's; nothing was written.
        """
        from engine.transfer.mirror.sync import mirror

        with translated():
            return mirror(self.store, folder, style=style, dry_run=dry_run, progress=progress)

    def check_mirror(self, folder: str | Path, *, progress: Progress = no_progress) -> MirrorCheck:
        """Whether a mirror is what it says, and that what the memory says, now or at an earlier head.

        Raises:
            NotFoundError: there is no mirror.
        """
        from engine.transfer.mirror.check import check

        with translated():
            return check(self.store, folder, progress)

    def export(self, write: Callable[[bytes], object], *, progress: Progress = no_progress) -> Checkpoint:
        """Write the journal as JSON Lines, all of it as of one head (`engine.transfer.journal_export`)."""
        from engine.transfer.journal_export import export_store

        with translated():
            return export_store(self.store, write, progress)

    def backup(self, path: str | Path, *, progress: Progress = no_progress) -> Checkpoint:
        """Write the journal to a file, in the place of an earlier backup (`engine.transfer.backup`)."""
        from engine.transfer.backup import backup

        with translated():
            return backup(self.store, path, progress)

    def was_kept(self, seq: int, event_id: str) -> bool:
        """Whether event `seq` is the one with this id: settles an in-doubt write after reopening."""
        with translated(), self.store.view() as rows:
            if integer(seq, "seq") >= read_log(rows).size:
                return False
            return read_entry(rows, seq).header.commitment.hex() == event_id

    def status(self) -> Status:
        """What is in the store and how far each follower has come; moves nothing."""
        with translated(), self.store.backend.snapshot() as rows:
            return status(rows, self.store)
