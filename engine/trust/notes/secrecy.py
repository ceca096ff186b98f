"""What may never be shown: a private key that stands where a file or a verifier key should."""

from __future__ import annotations

from engine.base.errors import InvalidInputError

PRIVATE_PREFIX = "PRIVATE+KEY+"
"""What the line of a private key begins with."""


def refuse_secret(given: object, hint: str) -> None:
    """Refuse a text that is or holds a private key, without repeating any of it.

    Args:
        given: What was given as an argument.
        hint: What to give instead.

    Raises:
        InvalidInputError: it does.
    """
    if PRIVATE_PREFIX in str(given).upper():
        raise InvalidInputError("this is a private key", hint=hint)
