"""How the reference verifier says no."""

from __future__ import annotations


class Refused(Exception):
    """The bytes do not show the claims; `reason` is a word of SPEC 20.9's table."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def need(holds: bool, reason: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise Refused(reason)
