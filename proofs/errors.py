"""The one error of verifiers."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, str]] = {
    "input": "what the caller gave cannot be verified at all: a wrong width, no claims, the same claim twice",
    "size": "the proof is larger than one of its kind may be, or has more items",
    "encoding": "not one canonical CBOR item of the allowed types",
    "form": "not the fields a proof has, or not of their types and bounds",
    "version": "not a proof of this format",
    "kind": "not the witnesses that the claims call for, in their order",
    "missing": "a part or payload that the claims need is not there",
    "unneeded": "a part or payload is there that the claims have no use for",
    "root": "its parts do not make up the overall root, under this store's id",
    "log-size": "it is of a log of another size than the caller gave",
    "header": "not the canonical header of the event it stands for",
    "inclusion": "the event is not in the log",
    "consistency": "the one log does not begin with the other",
    "shape": "the opening of a tree has another shape than its keys allow, or too much or too little of it",
    "other-leaf": "the leaf that stands in a key's place does not belong there, or is that key's own",
    "absent": "a key is not there that the claim says is",
    "tree": "the opening does not lead to the root of its namespace",
    "value": "not the canonical value of a leaf",
    "contradiction": "two witnesses say different things of one key",
    "state": "the atom or edge is in another state than the claim says",
    "payload": "not what the commitment binds, or not the canonical payload of its event",
    "chunk": "not the canonical form of a set's chunk",
    "tagged": "the atom has the tag that the claim says it lacks, or lacks the one it has",
    "segments": "not the segments that an index of so many ordinals has",
    "index": "the segments do not lead to the root of the index",
    "row": "not the canonical row of a segment, or not one of its rows",
    "neighbours": "the rows shown are no neighbours with the term's place between them",
    "list": "the atoms listed are not exactly the live ones that the sets or rows name",
    "note": "not a checkpoint note in its exact form",
    "signature": "a signature of a known key that does not verify, or none of a key that must sign",
    "origin": "the checkpoint is another store's",
}
"""Reason → what it means. Stable: programs may compare them."""


class ProofError(Exception):
    """The proof does not show what it was asked to show; `reason` is one of REASONS."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
