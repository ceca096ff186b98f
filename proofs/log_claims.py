"""Checks of claims about the log: its events, prefixes and recorded roots (SPEC, section 20.5)."""

from __future__ import annotations

from typing import Any

from proofs.basis import Heads, check_opening, checkpoint_in, header_in, recorded_root
from proofs.claims import BeginsWithRoot, EventIs, HeadSeen, LogBegins, RootRecorded
from proofs.errors import ProofError
from proofs.events import ForeignHeadDetail
from proofs.log import check_consistency
from proofs.proof_file import (
    MAYBE_RAW,
    RAW,
    CheckpointLink,
    Opening,
    checked_array,
    checked_fields,
    open_payload,
    split_path,
)
from proofs.verified import LoggedEvent, LogPrefix, RecordedRoot, SeenHead


def check_event(claim: EventIs, fields: list[Any], heads: Heads) -> LoggedEvent:
    """Check the witness of an event: `fields` holds a header, a payload (or None) and an inclusion path.

    Raises:
        ProofError: the witness does not show the claim.
    """
    raw, payload, path = checked_fields(fields, (RAW, MAYBE_RAW, RAW), "the witness of an event")
    header = header_in(heads.log, raw, path)
    if header.seq != claim.seq:
        raise ProofError("header", f"the header is that of event {header.seq}, not {claim.seq}")
    return LoggedEvent(
        claim, header, open_payload(payload, header.commitment, header.kind, wanted=claim.opened)
    )


def check_prefix(claim: LogBegins, fields: list[Any], heads: Heads) -> LogPrefix:
    """Check the witness of an earlier log: `fields` holds a consistency path.

    Raises:
        ProofError: the witness does not show the claim.
    """
    (path,) = checked_fields(fields, (RAW,), "the witness of an earlier log")
    return _prefix(claim, claim.size, claim.root, path, heads)


def check_prefix_root(claim: BeginsWithRoot, fields: list[Any], heads: Heads) -> LogPrefix:
    """Check the witness of an earlier root: `fields` holds the opening of that root and a consistency path.

    Raises:
        ProofError: the witness does not show the claim.
    """
    parts, path = checked_array(fields, "the witness of an earlier root", 2)
    (path,) = checked_fields([path], (RAW,), "the witness of an earlier root")
    opening = Opening.read(parts, "the opening of the earlier root")
    check_opening(heads.store_id, opening, claim.root)
    return _prefix(claim, opening.size, opening.log_root, path, heads)


def check_recorded(claim: RootRecorded, fields: list[Any], heads: Heads) -> RecordedRoot:
    """Check the witness of a recorded root: `fields` holds the header of a checkpoint and an inclusion path.

    Raises:
        ProofError: the witness does not show the claim.
    """
    header = checkpoint_in(
        heads.log, CheckpointLink(*checked_fields(fields, (RAW, RAW), "the witness of a root"))
    )
    if recorded_root(header) != claim.root:
        raise ProofError("header", f"checkpoint {header.seq} records a different root")
    return RecordedRoot(claim, header)


def check_seen(claim: HeadSeen, fields: list[Any], heads: Heads) -> SeenHead:
    """Check the witness of another store's root: `fields` holds the header of an event and an inclusion path.

    Raises:
        ProofError: the witness does not show the claim.
    """
    header = header_in(heads.log, *checked_fields(fields, (RAW, RAW), "the witness of a head that was seen"))
    seen = header.detail
    if not isinstance(seen, ForeignHeadDetail) or not seen.states(claim.store_id, claim.size, claim.root):
        raise ProofError("header", f"event {header.seq} does not record that this head was seen")
    return SeenHead(claim, header)


def _prefix(
    claim: LogBegins | BeginsWithRoot, size: int, root: bytes, path: bytes, heads: Heads
) -> LogPrefix:
    if not 0 < size <= heads.log.size:
        raise ProofError("consistency", f"a log of {heads.log.size} events cannot begin with a log of {size}")
    hashes = split_path(path, "the path from the earlier log")
    check_consistency(size, root, heads.log.size, heads.log.root, hashes)
    return LogPrefix(claim, size, heads.log.size)
