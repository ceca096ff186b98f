"""The form in which a value is stored, after the filter for secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from engine.base.errors import RefusedError
from engine.commands.transaction import Transaction
from engine.frameworks.values import Packed, Path, pack, plain


def packed(tx: Transaction, value: object, path_of: Callable[[Any], Path | None], what: str) -> Packed:
    """Return the content and the `meta` for a value of the caller.

    First, each text is searched for secrets on its own, because JSON escapes the line breaks that end some
    secrets. Then the value is searched as JSON, because the name of a field (`password`) can make the field's
    text a secret.

    Args:
        tx: The transaction that stores the value.
        value: The value.
        path_of: Returns the place of the text that stands for the value, or None.
        what: The name of the value in errors.

    Raises:
        InvalidInputError: The value is not JSON.
        RefusedError: The value contains a secret that is refused, or that cannot be cut out.
    """
    clean = plain(value, lambda text: tx.screened(text, what))
    if tx.screen is not None:
        whole = pack(clean, None)
        screened = tx.screened(whole.content, what)
        if screened != whole.content:
            return Packed(_still_json(screened, what), whole.meta)
    return pack(clean, path_of(clean))


def _still_json(text: str, what: str) -> str:
    try:
        json.loads(text)
    except ValueError:
        raise RefusedError(
            f"the {what} contains a secret that cannot be cut out of it", hint="leave the secret out"
        ) from None
    return text
