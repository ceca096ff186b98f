"""The file format of a proof: the parts of a proof, and their encoding and decoding (SPEC, section 20.4).

A proof is untrusted. All item heads of its CBOR are checked before a library decodes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple, ParamSpec, Self, TypeVar

from proofs import limits
from proofs.claim_words import words_of
from proofs.claims import LISTS, AtomIs, Claim, EdgeIs, EdgesOf, EventIs, TagsOf
from proofs.codec import decode_body, pack, unpack
from proofs.errors import ProofError
from proofs.events import Body, EventKind
from proofs.forms import Check, FormError, fields, optional, raw_up_to, signed, sized, text, uint
from proofs.hashing import DIGEST_BYTES, FORMAT, NAMESPACE_BYTES_MAX, NAMESPACES, SALT_BYTES, commitment
from proofs.leaves import Value, decode_value
from proofs.log import SIZE_MAX

MAGIC: Final = "memroot-proof"
BEGINNING: Final = b"\x8a" + bytes([0x60 + len(MAGIC)]) + MAGIC.encode() + bytes([FORMAT])
"""The first bytes of every proof: the head of an array of ten items, then the magic text and the format."""
TREES: Final = ("atoms", "edges", "tags")
"""The namespaces whose trees a proof opens only at some keys. The tree of `index` is included as a whole."""

RAW: Final = raw_up_to(limits.BUNDLE_BYTES_MAX)
MAYBE_RAW: Final = optional(RAW)
_HASH: Final = sized(DIGEST_BYTES)
_NAMESPACES_MAX: Final = 64
_PAIR: Final = (text(NAMESPACE_BYTES_MAX, 1), _HASH)
_OPENING: Final = (signed(1, limits.RULES_MAX), _HASH, uint(SIZE_MAX), _HASH)
_SUMMARY: Final = (uint(), uint(), uint(), _HASH)


DEPTH_MAX: Final = 16
"""The maximum nesting depth of arrays; a proof has at most five levels."""


ITEMS_MAX: Final = 1 << 20
"""The maximum number of items, arrays included.

The limit bounds memory, because a decoded item takes far more memory than its encoding. Even a list in a
proof of 16 MiB has fewer items.
"""


PATH_HASHES_MAX: Final = 64


_UINT, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _NULL = 0, 1, 2, 3, 4, 5, 0xF6


_WIDTHS: Final = {0xF4: 0, 0xF5: 0, 0xF9: 2, 0xFA: 4, 0xFB: 8}
"""The first byte of a boolean or float → the number of bytes that follow it."""


_LEAST: Final = (24, 1 << 8, 1 << 16, 1 << 32)
"""The smallest numbers that need 1, 2, 4 and 8 bytes after the first byte of an item."""


P = ParamSpec("P")


R = TypeVar("R")


class CheckpointLink(NamedTuple):
    """Evidence that a checkpoint event is in the log: the header of the event and an inclusion path."""

    header: bytes
    path: bytes


class Opening(NamedTuple):
    """The parts that an overall root is computed from, except the store id."""

    rules: int
    """The version of the set of namespaces and groups. A later version only adds some."""
    label_commitment: bytes
    size: int
    log_root: bytes
    roots: dict[str, bytes]
    """Namespace → root of its tree, in the order of the names. All of NAMESPACES are among them."""

    @classmethod
    def read(cls, value: object, where: str) -> Self:
        """Return the opening that a decoded item of a proof holds.

        Raises:
            ProofError: the item does not have the form of an opening (`form`).
        """
        *others, listed = checked_array(value, where, len(_OPENING) + 1)
        checked_fields(others, _OPENING, where)
        pairs = [checked_fields(pair, _PAIR, where) for pair in checked_array(listed, where)]
        names = [name.encode() for name, _ in pairs]
        if len(pairs) > _NAMESPACES_MAX or any(a >= b for a, b in pairwise(names)):
            raise ProofError("form", f"{where}: the names of namespaces are too many or not ascending")
        roots = dict(pairs)
        if not roots.keys() >= set(NAMESPACES):
            raise ProofError("form", f"{where}: a namespace is missing")
        rules, label_commitment, size, log_root = others
        return cls(rules, label_commitment, size, log_root, roots)

    def plain(self) -> list[Any]:
        """Return the item that holds this opening in a proof."""
        return [*self[:-1], list(map(list, self.roots.items()))]


class Segments(NamedTuple):
    """The whole `index` tree: the number of ordinals, and the fields of each segment's summary."""

    ordinals: int
    summaries: list[list[Any]]


class TreeOpening(NamedTuple):
    """The opening of a tree: the two byte strings from which `proofs.smt` computes the root."""

    shape: bytes
    hashes: bytes


class ProofFile(NamedTuple):
    """The parts of a proof. Each part is well-formed, but no part has been verified yet."""

    link: CheckpointLink | None
    opening: Opening
    label_key: bytes | None
    segments: Segments | None
    trees: dict[str, TreeOpening | None]
    """Namespace → opening, for each of TREES."""
    witnesses: list[list[Any]]
    """For each claim, in the order of `sort_claims`: [claim number, fields of the witness …]."""


def sort_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims in the order in which a proof holds their witnesses.

    Raises:
        ProofError: there are no claims, or a claim occurs twice (`input`).
    """
    if not claims:
        raise ProofError("input", "at least one claim is required")
    ordered = sorted(claims, key=_sort_key)
    for before, after in pairwise(ordered):
        if _sort_key(before) == _sort_key(after):
            raise ProofError("input", f"the same claim occurs twice: {' '.join(words_of(after))}")
    return ordered


def _sort_key(claim: Claim) -> tuple[int, bytes]:
    return claim.number, claim.subject


def encode(proof: ProofFile) -> bytes:
    """Return the canonical encoding of a proof."""
    parts = [proof.segments, *(proof.trees[name] for name in TREES)]
    link, *listed = [None if part is None else list(part) for part in (proof.link, *parts)]
    return pack([MAGIC, FORMAT, link, proof.opening.plain(), proof.label_key, *listed, proof.witnesses])


def decode(data: bytes, claims: Sequence[Claim]) -> ProofFile:
    """Decode a proof of `claims`.

    Raises:
        ProofError: `data` is not bytes (`input`), too large (`size`), not a proof of this format (`encoding`,
            `version`, `form`), or the witnesses in it do not match the claims (`kind`).
    """
    most = _size_limit(claims)
    if type(data) is not bytes:
        raise ProofError("input", f"a proof must be bytes, not {type(data).__name__}")
    if len(data) > most:
        raise ProofError("size", f"a proof of these claims has at most {most} bytes")
    whole = checked_array(decode_strict(data, "the proof"), "a proof")
    if whole[:2] != [MAGIC, FORMAT] or type(whole[1]) is not int:
        raise ProofError("version", f"this is not a proof of format {FORMAT}")
    checked_array(whole, "a proof", 10)
    link, opening, label_key, segments, *trees, witnesses = whole[2:]
    checked_fields([label_key], (optional(_HASH),), "the label key")
    proof = ProofFile(
        None if link is None else CheckpointLink(*checked_fields(link, (RAW, RAW), "the link")),
        Opening.read(opening, "the opening of the root"),
        label_key,
        None if segments is None else _segments(segments),
        dict(zip(TREES, map(_tree, trees), strict=True)),
        [checked_array(witness, "a witness") for witness in checked_array(witnesses, "the witnesses")],
    )
    if [witness[:1] for witness in proof.witnesses] != [[claim.number] for claim in claims]:
        raise ProofError("kind", "the witnesses do not match the claims")
    return proof


def _segments(value: Any) -> Segments:
    ordinals, summaries = checked_array(value, "the segments", 2)
    if type(ordinals) is not int or not 0 <= ordinals <= limits.ORDINAL_MAX + 1:
        raise ProofError("form", f"an index has at most {limits.ORDINAL_MAX + 1} ordinals")
    return Segments(
        ordinals,
        [checked_fields(one, _SUMMARY, "a segment") for one in checked_array(summaries, "the segments")],
    )


def _tree(value: Any) -> TreeOpening | None:
    return None if value is None else TreeOpening(*checked_fields(value, (RAW, RAW), "the opening of a tree"))


def _size_limit(claims: Sequence[Claim]) -> int:
    """Return the maximum size of a proof of `claims`, in bytes."""
    opens = any(isinstance(claim, (AtomIs, EdgeIs, EventIs)) and claim.opened for claim in claims)
    single = len(claims) == 1 and not isinstance(claims[0], (*LISTS, EdgesOf, TagsOf))
    return limits.PROOF_BYTES_MAX if single and not opens else limits.BUNDLE_BYTES_MAX


def decode_strict(raw: bytes, where: str, *, body: bool = False) -> Any:
    """Decode `raw`, which must be one item of canonical CBOR with only the types that the format allows.

    With `body`, maps, negative integers, booleans and floats are allowed too.

    All item heads are checked before cbor2 runs, because cbor2 acts on some tags, such as the tags of
    fractions and regular expressions, while it decodes. The time is linear in the length.

    Raises:
        ProofError: the bytes are not one item of this form (`encoding`), or have too many items (`size`).
    """
    _check_heads(raw, where, body)
    return with_reason("encoding", unpack, raw, where)


def with_reason(reason: str, read: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `read` and return the result; a FormError is converted to a ProofError with `reason`.

    Raises:
        ProofError: `read` raised a FormError.
    """
    try:
        return read(*args, **kwargs)
    except FormError as error:
        raise ProofError(reason, str(error)) from error


def checked_fields(value: Any, checks: tuple[Check, ...], where: str) -> list[Any]:
    """Return `value` if it is an array in which each item satisfies the check at its position in `checks`.

    Raises:
        ProofError: `value` is not an array, or an item does not satisfy its check (`form`).
    """
    return with_reason("form", fields, value, checks, where)


def checked_array(value: Any, where: str, *lengths: int) -> list[Any]:
    """Return `value` if it is an array whose length is one of `lengths`; without `lengths`, any array.

    Raises:
        ProofError: `value` is not an array, or has a different length (`form`).
    """
    if type(value) is not list or (lengths and len(value) not in lengths):
        raise ProofError("form", f"{where} is not an array of the right length")
    return value


def check_presence(part: object, what: str, *, needed: bool) -> None:
    """Check that a part of the proof is present if it is needed, and absent if it is not.

    Raises:
        ProofError: the part is missing (`missing`) or not needed (`unneeded`).
    """
    if (part is not None) is not needed:
        raise ProofError(
            "missing" if needed else "unneeded", f"{what} is {'missing' if needed else 'not needed'}"
        )


def read_value(raw: bytes) -> Value:
    """Decode the value of a leaf.

    Raises:
        ProofError: the bytes are not the canonical encoding of a value (`encoding`, `value`).
    """
    decode_strict(raw, "the value of a leaf")
    return with_reason("value", decode_value, raw, "the value of a leaf")


def open_payload(payload: bytes | None, bound_by: bytes, kind: EventKind, *, wanted: bool) -> Body | None:
    """Return the body in a payload, or None if the claim does not open it.

    Raises:
        ProofError: the payload is missing (`missing`) or not needed (`unneeded`); it does not match the
            commitment or is not the body of an event of the right kind (`payload`, `encoding`).
    """
    check_presence(payload, "the payload", needed=wanted)
    if payload is None:
        return None
    salt, body = payload[:SALT_BYTES], payload[SALT_BYTES:]
    if len(salt) != SALT_BYTES or commitment(salt, body) != bound_by:
        raise ProofError("payload", "the payload does not match its commitment")
    decode_strict(body, "the body of the payload", body=True)
    return with_reason("payload", decode_body, kind, body, "the payload")


def split_path(raw: bytes, where: str) -> list[bytes]:
    """Split the bytes of a path into hashes.

    Raises:
        ProofError: `raw` is not a whole number of hashes, or has more hashes than a path can have (`form`).
    """
    if type(raw) is not bytes or len(raw) % DIGEST_BYTES or len(raw) > DIGEST_BYTES * PATH_HASHES_MAX:
        raise ProofError("form", f"{where} is not a sequence of at most {PATH_HASHES_MAX} hashes")
    return [raw[at : at + DIGEST_BYTES] for at in range(0, len(raw), DIGEST_BYTES)]


def _check_heads(raw: bytes, where: str, body: bool) -> None:
    at = count = 0
    left = [1]
    while left:
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        count += 1
        if count > ITEMS_MAX:
            raise ProofError("size", f"{where} has more than {ITEMS_MAX} items")
        if at >= len(raw):
            raise ProofError("encoding", f"{where} ends too early")
        at, items = _item(raw, at, where, body)
        if items:
            if len(left) > DEPTH_MAX:
                raise ProofError("encoding", f"{where} has arrays or maps more than {DEPTH_MAX} deep")
            left.append(items)
    if at > len(raw):
        raise ProofError("encoding", f"{where} ends too early")
    if at < len(raw):
        raise ProofError("encoding", f"{where} has bytes after its end")


def _item(raw: bytes, at: int, where: str, body: bool) -> tuple[int, int]:
    """Return an offset and the number of inner items of the item at `at`.

    If the item has inner items, the offset is the start of the first inner item. Otherwise the offset is the
    end of the item.
    """
    head = raw[at]
    if head == _NULL:
        return at + 1, 0
    if body and head in _WIDTHS:
        return at + 1 + _WIDTHS[head], 0
    at, number = _number(raw, at + 1, head & 31, where)
    major = head >> 5
    if major in {_BYTES, _TEXT}:
        return at + number, 0
    if body and major == _MAP:
        return at, 2 * number
    if major not in {_UINT, _ARRAY} and not (body and major == _NEGATIVE):
        raise ProofError("encoding", f"{where} has an item of a type that is not allowed")
    return at, number if major == _ARRAY else 0


def _number(raw: bytes, at: int, info: int, where: str) -> tuple[int, int]:
    """Return the offset after the head of an item, and the number in the head."""
    if info < _LEAST[0]:
        return at, info
    if info > 27:
        raise ProofError("encoding", f"{where} has an item without a definite length")
    end = at + (1 << (info - 24))
    number = int.from_bytes(raw[at:end], "big")
    if end > len(raw) or number < _LEAST[info - 24]:
        raise ProofError("encoding", f"{where} has a number that is not in its shortest form")
    return end, number
