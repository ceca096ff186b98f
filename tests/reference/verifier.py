"""A second verifier of proofs, written from SPEC.md alone and not in the style of the project's verifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.reference import claims as c
from tests.reference.cbor import Item, Malformed, read
from tests.reference.claims import Basis, Claim
from tests.reference.forms import (
    CHECKPOINT,
    FOREIGN_HEAD,
    HASH,
    Check,
    array,
    ascending,
    fields,
    header,
    maybe,
    payload,
    text,
    uint,
)
from tests.reference.hashes import (
    NAMESPACES,
    digest,
    log_leaf,
    overall,
    root_by_path,
    root_without_last,
    roots_by_path,
)
from tests.reference.refused import Refused, need
from tests.reference.state import BYTES, FORMS, Calls, Shown, opened, shown, summaries

__all__ = ["Basis", "Claim", "Refused", "Shown", "check"]

PROOF_BYTES_MAX, BUNDLE_BYTES_MAX = 65_536, 16_777_216
PARTS = ("link", "opening", "labels", "segments", "atoms", "edges", "tags")
PAIRS = array(fields((text(255, 1), HASH)), 64)
OPENED = fields((uint(255, 1), HASH, uint(), HASH, PAIRS))


def OPENING(item: object) -> bool:  # noqa: N802  # it stands among the other forms
    """Return True for the parts of an overall root, with the names of the namespaces ascending."""
    if not OPENED(item) or not isinstance(item, list):
        return False
    names = [name.encode() for name, _ in item[4]]
    return ascending(names) and {name.encode() for name in NAMESPACES} <= set(names)


TREE = fields((BYTES, BYTES))
FORM: tuple[Check, ...] = (
    lambda item: isinstance(item, str),
    uint(),
    maybe(fields((BYTES, BYTES))),
    OPENING,
    maybe(HASH),
    maybe(lambda item: isinstance(item, list)),
    maybe(TREE),
    maybe(TREE),
    maybe(TREE),
    lambda item: isinstance(item, list) and all(isinstance(one, list) and one for one in item),
)
WITNESSES: dict[int, tuple[Check, ...]] = FORMS | {
    c.EVENT: (BYTES, maybe(BYTES), BYTES),
    c.PREFIX: (BYTES,),
    c.ROOT: (BYTES, BYTES),
    c.PREFIX_ROOT: (OPENING, BYTES),
    c.SEEN: (BYTES, BYTES),
}


def check(data: bytes, basis: Basis, claims: Sequence[Claim]) -> list[Shown]:
    """Return the facts that a proof shows, in the order of the claims.

    A fact is a dictionary. A claim about the state gives `size`, the number of events that the fact covers. A
    claim `atom` or `edge` also gives the fields of the value and `body`, which is None without a payload. A
    list gives `ids`. A claim about the log gives values from the header or the opening.

    Raises:
        Refused: the bytes do not show all of the claims, or the claims or the basis are invalid.
    """
    ordered = c.in_order(basis, claims)
    parts, witnesses = parsed(data, ordered)
    log, opening = grounds(basis, ordered, parts)
    calls = Calls(parts["labels"])
    segments = None
    if parts["segments"] is not None:
        segments = summaries(parts["segments"], dict(opening[4])["index"])
    found: dict[Claim, Shown] = {}
    for claim, witness in zip(ordered, witnesses, strict=True):
        if claim[0] in c.STATE_CLAIMS:
            found[claim] = shown(calls, claim, witness, opening[2], segments)
        else:
            found[claim] = in_log(log, basis[1], claim, witness)
    opened(calls, parts, dict(opening[4]))
    return [found[claim] for claim in claims]


def parsed(data: bytes, ordered: list[Claim]) -> tuple[dict[str, Any], list[Any]]:
    """Check the forms of the parts of a proof. Return the parts by name, and the fields of each witness."""
    lists = (*c.LIST_CLAIMS, c.EDGES_OF, c.TAGS_OF)
    alone = len(ordered) == 1 and ordered[0][0] not in lists and not ordered[0][3]
    need(len(data) <= (PROOF_BYTES_MAX if alone else BUNDLE_BYTES_MAX), "size")
    try:
        item: Item = read(data)
    except Malformed:
        raise Refused("encoding") from None
    if not isinstance(item, list):
        raise Refused("form")
    need(item[:2] == ["memroot-proof", 3], "version")
    need(fields(FORM)(item), "form")
    given: Any = item[9]
    need([one[0] for one in given] == [claim[0] for claim in ordered], "kind")
    need(all(fields(WITNESSES[one[0]])(one[1:]) for one in given), "form")
    for claim, one in zip(ordered, given, strict=True):
        if claim[0] in c.WITH_PAYLOAD:
            present(one[2], claim[3])
    return dict(zip(PARTS, item[2:9], strict=True)), [one[1:] for one in given]


def grounds(basis: Basis, ordered: list[Claim], parts: dict[str, Any]) -> tuple[tuple[int, bytes], Any]:
    """Return (size, root) of the log that the basis is about, and the opening that the basis confirms."""
    present(parts["link"], basis[0] == "log")
    present(parts["segments"], any(claim[0] in c.LIST_CLAIMS for claim in ordered))
    opening = parts["opening"]
    present(parts["labels"], any(claim[0] in c.LABELLED for claim in ordered))
    need(parts["labels"] is None or digest("label-key", parts["labels"]) == opening[1], "label")
    store_id, root, size = c.parts_of(basis)
    if basis[0] == "root":
        need(overall_of(store_id, opening) == root, "root")
        need(size is None or size == opening[2], "log-size")
        return (opening[2], opening[3]), opening
    log = (size or 0, root)
    head = checkpoint(parts["link"][0])
    need(head["seq"] == log[0] - 1, "log-size")
    included(log, head["seq"], *parts["link"])
    need(opening[2] == head["seq"], "log-size")
    need(opening[3] == root_without_last(hashes_of(parts["link"][1], "form")), "root")
    need(overall_of(store_id, opening) == head["detail"][0], "root")
    return log, opening


def present(part: object, wanted: bool) -> None:
    """Refuse the proof if a wanted part is missing or an unwanted part is present."""
    need(part is not None or not wanted, "missing")
    need(part is None or wanted, "unneeded")


def overall_of(store_id: bytes, opening: list[Any]) -> bytes:
    """Return the overall root of an opening."""
    return overall(store_id, *opening)


def checkpoint(data: bytes) -> dict[str, Any]:
    """Return the header of a checkpoint event."""
    found = header(data)
    need(found["kind"] == CHECKPOINT, "header")
    return found


def hashes_of(path: bytes, reason: str) -> list[bytes]:
    """Return the hashes of a path."""
    need(len(path) % 32 == 0, reason)
    return [path[at : at + 32] for at in range(0, len(path), 32)]


def included(log: tuple[int, bytes], seq: int, data: bytes, path: bytes) -> None:
    """Refuse the proof unless the path shows that the header is event `seq` of the log."""
    size, root = log
    need(seq < size, "inclusion")
    need(root_by_path(seq, size, log_leaf(data), hashes_of(path, "inclusion")) == root, "inclusion")


def consistent(log: tuple[int, bytes], size: int, root: bytes, path: bytes) -> None:
    """Refuse the proof unless the path shows that `log` begins with the log that has this size and root."""
    need(1 <= size <= log[0], "consistency")
    roots = roots_by_path(size, log[0], root, hashes_of(path, "consistency"))
    need(roots == (root, log[1]), "consistency")


def in_log(log: tuple[int, bytes], store_id: bytes, claim: Claim, witness: list[Any]) -> Shown:
    """Return the facts that the witness of a log claim shows."""
    number, subject, _, _ = claim
    if number == c.PREFIX:
        size = int.from_bytes(subject[:8], "big")
        consistent(log, size, subject[8:], witness[0])
        return {"size": size}
    if number == c.PREFIX_ROOT:
        opening, path = witness
        need(overall_of(store_id, opening) == subject, "root")
        consistent(log, opening[2], opening[3], path)
        return {"size": opening[2]}
    if number == c.ROOT:
        found = checkpoint(witness[0])
        need(found["detail"] == [subject], "root")
        included(log, found["seq"], witness[0], witness[1])
        return found
    found = header(witness[0])
    if number == c.SEEN:
        need(found["kind"] == FOREIGN_HEAD, "header")
        store, size, _, root = found["detail"]
        need(root is not None and store + size.to_bytes(8, "big") + root == subject, "header")
        included(log, found["seq"], witness[0], witness[1])
        return found
    need(found["seq"] == int.from_bytes(subject, "big"), "header")
    included(log, found["seq"], witness[0], witness[2])
    body = None if witness[1] is None else payload(witness[1], found["kind"], found["commitment"])
    return found | {"body": body}
