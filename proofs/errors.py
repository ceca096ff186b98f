"""The error that verifiers raise, and its reasons."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, str]] = {
    "input": "the caller's basis or claims cannot be verified: a wrong width, no claims, a claim twice",
    "size": "the proof is larger than a proof of its claims may be, or has more items",
    "encoding": "a proof, header, value or body is not one canonical CBOR item of the allowed types",
    "form": "the proof does not have the fields of a proof, or one is not of its type or within its bounds",
    "version": "not a proof of this version",
    "kind": "the witnesses are not those that the claims call for, in their order",
    "missing": "a part or payload that the claims need is absent",
    "unneeded": "a part or payload is present that the claims do not need",
    "root": "the parts do not give the overall root, with the id of this store",
    "log-size": "the proof or note is about a log of another size than the caller gave",
    "header": "not the header of the event it stands for",
    "inclusion": "the event is not in the log",
    "consistency": "the log does not begin with the other one",
    "shape": "the opening of a tree has another shape than its keys allow, or too much or too little data",
    "other-leaf": "the leaf in the place of a key does not belong there, or is the leaf of that key",
    "absent": "the tree has no leaf for a key that has one according to the claim",
    "tree": "the opening does not lead to the root of its namespace",
    "value": "not the value of a leaf",
    "contradiction": "two witnesses say different things about one key",
    "state": "the atom or edge is in another state than the claim says",
    "payload": "not the payload that the commitment binds, or its body is not that of its event",
    "chunk": "not the canonical form of a chunk of a set",
    "tagged": "the chunk and the claim disagree about whether the atom has the tag",
    "segments": "not the segments of an index with this number of ordinals",
    "index": "the segments do not lead to the root of the index",
    "row": "not the canonical row of a segment, or not a row of this segment",
    "neighbours": "the rows shown are not neighbours with the place of the term between them",
    "list": "the listed atoms are not exactly the live ones that the sets or rows name",
    "note": "not a checkpoint note in its exact form",
    "signature": "a signature of a known key does not verify, or a key that must sign has not signed",
    "origin": "the checkpoint is about another store",
}
"""Reason → meaning. The reasons are stable: programs may compare them. The meanings may be reworded."""


class ProofError(Exception):
    """A proof or note was refused; `reason` is one of REASONS."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
