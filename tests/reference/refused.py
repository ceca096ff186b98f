"""The refusal of the reference verifier."""

from __future__ import annotations


class Refused(Exception):
    """Raised if the bytes do not show the claims; `reason` is a word of the table in SPEC 20.9."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def need(holds: bool, reason: str) -> None:
    """Raise Refused with this reason if the condition is false."""
    if not holds:
        raise Refused(reason)
