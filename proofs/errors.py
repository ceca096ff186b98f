"""The error that verifiers raise, and its reasons."""

from __future__ import annotations

from typing import Final

REASONS: Final[dict[str, str]] = {
    "input": "the caller's basis or claims are invalid: a wrong width, no claims, a claim twice",
    "size": "the proof is larger than a proof of its claims may be, or has more items",
    "encoding": "a proof, header, value or body is not one canonical CBOR item of the allowed types",
    "form": "the proof does not have the fields of a proof, or a field has a wrong type or is out of bounds",
    "version": "not a proof of this format",
    "kind": "the witnesses do not match the claims in number, kind or order",
    "missing": "a part or payload that the claims need is absent",
    "unneeded": "a part or payload is present that the claims do not need",
    "root": "the parts and the store's id do not hash to the overall root",
    "log-size": "the size of the log in the proof or note is not the size that the caller passed",
    "header": "the bytes are not the header of the expected event",
    "inclusion": "the event is not in the log",
    "consistency": "the newer log does not begin with the older log",
    "shape": "the opening of a tree has a shape that its keys do not allow, or too much or too little data",
    "other-leaf": "the leaf in place of an absent key belongs elsewhere, or is the leaf of that key",
    "absent": "the tree has no leaf for a key that is present according to the claim",
    "tree": "the opening of a tree does not hash to the root of its namespace",
    "value": "the bytes are not the value of a leaf",
    "contradiction": "two witnesses give different values for one key",
    "state": "the atom or edge is in a different state than the claim says",
    "payload": "the payload does not match its commitment, or its body is not of the event's kind",
    "chunk": "a chunk of a set is not in canonical form",
    "tagged": "the chunk and the claim disagree about whether the atom has the tag",
    "label": "the label key is not the one that the root commits to",
    "segments": "the segments are not those of an index with the given number of ordinals",
    "index": "the segments do not hash to the root of the index",
    "row": "the row is not canonical, or does not belong to the segment",
    "neighbours": "the rows shown are not the neighbours of the row that the term would have",
    "list": "the listed atoms or edges are not exactly those in the sets, rows or tree",
    "note": "the text is not a checkpoint note in its exact form",
    "signature": "a signature of a known key does not verify, or a key that must sign has not signed",
    "origin": "the checkpoint is about a different store",
}
"""Reason → explanation. The reasons never change, so programs may compare them; explanations may change."""


class ProofError(Exception):
    """Raised if a proof, a note or an argument is refused; `reason` is one of REASONS."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
