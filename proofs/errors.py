"""The exception that verifiers raise, and its reasons."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, str]] = {
    "input": "the arguments are invalid: a wrong width, no claims, or the same claim twice",
    "size": "the proof has more bytes or items than a proof of these claims may have",
    "encoding": "not one canonical CBOR item of the allowed types",
    "form": "fields are missing or superfluous, or a field has the wrong type or is out of bounds",
    "version": "not a proof of this format",
    "kind": "the witnesses are not those of the claims, in the order of the claims",
    "missing": "a part or payload that the claims need is missing",
    "unneeded": "the proof has a part or payload that the claims do not need",
    "root": "the parts, with this store's id, do not hash to the overall root",
    "log-size": "the log has another size than the basis states",
    "header": "not the canonical header of the event that the claim or the basis names",
    "inclusion": "the event is not in the log",
    "consistency": "the log does not begin with the earlier log",
    "shape": "the opening of a tree does not match the shape that its keys require, or has the wrong length",
    "other-leaf": "the leaf shown in place of an absent key does not belong there, or is that key's own leaf",
    "absent": "a key that the claim says is present is absent",
    "tree": "the opening does not hash to the root of its namespace",
    "value": "not the canonical value of a leaf",
    "contradiction": "two witnesses give different values for the same key",
    "state": "the atom or edge has another state than the claim says",
    "payload": "the payload does not match its commitment, or is not the canonical payload of its event",
    "chunk": "not a canonical chunk of a set",
    "tagged": "the atom has a tag that the claim says it does not have, or the reverse",
    "segments": "not the segments that an index of this many ordinals has",
    "index": "the segments do not hash to the root of the index",
    "row": "not a canonical row, or not a row of this segment",
    "neighbours": "the rows shown are not neighbours with the term between them",
    "list": "the atoms listed are not exactly the live atoms in the sets or rows",
    "note": "not a checkpoint note in its exact form",
    "signature": "the signature of a known key does not verify, or a required signature is missing",
    "origin": "the checkpoint belongs to another store",
}
"""Reason → meaning. The reasons are stable: programs may compare them."""


class ProofError(Exception):
    """Raised if a proof does not show the claims or an argument is invalid; `reason` is a key of REASONS."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
