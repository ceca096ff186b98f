"""The token that clients of the HTTP server must send."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from pathlib import Path
from typing import Final

from engine.base.errors import RefusedError

VARIABLE: Final = "ENGINE_MCP_TOKEN"

CHARS_MIN: Final = 16
"""A shorter token could be guessed."""

_FORM: Final = re.compile(r"[A-Za-z0-9._~+/=-]{16,1024}")
_FILE_BYTES_MAX: Final = 2048


def token_from(file: Path | None) -> tuple[str, bool]:
    """The token, and whether it was made just now: from the file, the environment, or chance.

    Raises:
        RefusedError: it is too short, or holds what no header may; or others can read the file.
        NotFoundError: there is no such file.
    """
    if file is not None:
        from engine.trust.notes.files import read_file

        raw = read_file(file, _FILE_BYTES_MAX)
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise RefusedError(f"others can read {file}", hint=f"chmod 600 {file}")
        return _checked(raw.decode("utf-8", "replace").strip(), str(file)), False
    given = os.environ.get(VARIABLE)
    return (secrets.token_urlsafe(32), True) if given is None else (_checked(given, VARIABLE), False)


def is_bearer(header: str | None, token: str) -> bool:
    """Whether an Authorization header (RFC 6750) carries the token; takes as long whatever it carries."""
    scheme, _, given = (header or "").partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "surrogateescape"), token.encode())
    return same and scheme.lower() == "bearer"


def _checked(token: str, where: str) -> str:
    if not _FORM.fullmatch(token):
        raise RefusedError(
            f"{where} holds no token: {CHARS_MIN} or more letters, digits and . _ ~ + / = -",
            hint="leave it out, and a new token is made",
        )
    return token
