"""Checks that a checkpoint kept outside the store belongs to this store. Only stored headers are needed.

If the checkpoint contradicts the store, the checkpoint and a checkpoint of the store can be written to an
evidence file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from backends.base import Reader
from engine.base.errors import CorruptionError, EngineError, InconsistentError
from engine.base.outside_files import PUBLIC, make_file
from engine.ledger.journal import read_identity, read_log
from engine.ledger.layout import JOURNAL, journal_key
from proofs.log import Frontier, leaf_hash
from proofs.note import Checkpoint, origin_of


class History(NamedTuple):
    """The roots of a store's log at several sizes, computed from the stored headers."""

    origin: str
    size: int
    """The present number of events in the log."""
    roots: Mapping[int, bytes]
    """A mapping from size to root of the log, for `size` and for each requested size up to `size`."""

    @property
    def head(self) -> Checkpoint:
        """The checkpoint that describes the present log."""
        return Checkpoint(self.origin, self.size, self.roots[self.size])

    def check(self, known: Checkpoint) -> None:
        """Check that this log begins with the log of `known`.

        The size of `known` must be one of the sizes for which `read_history` was called.

        Raises:
            InconsistentError: `known` is of another store, or this store has since been rolled back or has
                forked.
        """
        check_pair(known, self.head)
        here = Checkpoint(self.origin, known.size, self.roots.get(known.size, b""))
        if known != here:
            what = f"the first {known.size} events of the store are not those of the known checkpoint"
            raise inconsistent(f"fork: {what}", known, here, self.head)


def read_history(rows: Reader, sizes: Iterable[int]) -> History:
    """Return the roots of the log at several sizes, read in one snapshot.

    Roots are computed for the present size and for `sizes`; sizes greater than the present size are ignored.
    Every header is read and hashed again (measured with LevelDB: 2.6 µs for each header).

    Raises:
        CorruptionError: A header is missing, or the headers differ from those that the log state commits to.
    """
    log, frontier = read_log(rows), Frontier()
    wanted = frozenset(sizes)
    roots = {0: frontier.root()} if 0 in wanted else {}
    # A missing or additional row changes the computed log state, so the keys need not be checked.
    for _, raw in rows.scan(JOURNAL, journal_key(log.size)):
        frontier.append(leaf_hash(raw))
        if frontier.size in wanted:
            roots[frontier.size] = frontier.root()
    if frontier != log.frontier:
        raise CorruptionError(
            f"the log does not commit to the {log.size} headers of the journal",
            hint="`engine verify-root` names the first header that differs",
            family="journal",
        )
    roots[log.size] = frontier.root()
    return History(origin_of(read_identity(rows).store_id), log.size, roots)


def check_checkpoint(rows: Reader, known: Checkpoint) -> None:
    """Check that the log in these rows begins with the log of `known`.

    Raises:
        InconsistentError: `known` is of another store, or this store has since been rolled back or has
            forked.
        CorruptionError: A header is missing, or the headers differ from those that the log state commits to.
    """
    read_history(rows, (known.size,)).check(known)


def check_pair(old: Checkpoint, new: Checkpoint) -> bool:
    """Return True if the two checkpoints are equal. Return False if the store is needed to compare them.

    Raises:
        InconsistentError: The checkpoints belong to different stores, have the same size but different roots,
            or `new` has a smaller size than `old`.
    """
    if old.origin != new.origin:
        raise inconsistent(
            f"another store: the log is {new.origin}, but the known checkpoint belongs to {old.origin}",
            old,
            new,
        )
    if new.size < old.size:
        raise inconsistent(
            f"rollback: the log has {new.size} events, but the known checkpoint covers {old.size}", old, new
        )
    if new.size == old.size and new.root != old.root:
        problem = f"equivocation: two logs of {old.size} events with different roots"
        raise inconsistent(problem, old, new)
    return new.size == old.size or not old.size


def inconsistent(problem: str, known: Checkpoint, *found: Checkpoint) -> InconsistentError:
    """Return an InconsistentError for `known` and the contradicting checkpoints `found`, the head last."""
    return InconsistentError(problem, known=known.text, found=tuple(one.text for one in found))


_NUMBERS = 10_000


def keep_evidence(error: InconsistentError, known: str, place: Path) -> Path:
    """Write both sides of a contradiction to a new file, and return the path of the file.

    The file is `place`.evidence-N.json, where N is the first number whose file does not exist or has
    the same content. The file contains one JSON object with three keys. `problem` is the message of
    the error. `known` is the note with its signatures or, if the argument `known` is empty, the
    checkpoint text in the InconsistentError. `found` has the texts of the store's checkpoints, the head last.

    Raises:
        EngineError: The file cannot be written.
    """
    evidence = {"problem": str(error), "known": known or error.known, "found": list(error.found)}
    data = (json.dumps(evidence, indent=2, ensure_ascii=True) + "\n").encode()
    try:
        for number in range(1, _NUMBERS):
            path = place.with_name(f"{place.name}.evidence-{number}.json")
            try:
                make_file(path, data, PUBLIC)
            except FileExistsError:
                with path.open("rb") as file:
                    if file.read(len(data) + 1) != data:
                        continue
            return path
    except (OSError, ValueError) as failure:
        raise EngineError(f"the evidence file cannot be written next to {place}: {failure}") from failure
    raise EngineError(
        f"there are already {_NUMBERS - 1} evidence files next to {place}", hint="move some of them away"
    )
