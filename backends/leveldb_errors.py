"""The translation of LevelDB's exceptions. LevelDB reports an errno only as text in a message."""

from __future__ import annotations

from typing import Final

from backends.environment import environment_error, errno_in, in_doubt
from backends.errors import BackendBusy, BackendCorrupt, BackendError, BackendInDoubt

NOT_SHARED: Final = "close the store there, or use a sqlite: store, which several processes can open"
"""What to do if a store is in use that only one process can open."""

_DAMAGE = ("Corruption", "NotFound", "Invalid argument")
"""The kinds of failures of LevelDB that are not caused by the operating system."""


def convert_error(what: str, where: str, error: Exception) -> BackendError:
    """Return the backend exception for an exception of plyvel.

    Args:
        what: What failed and where, as the beginning of a sentence: `/notes cannot be opened`.
        where: The name of the store in messages.
        error: The exception. Its message begins with the kind of the failure.
    """
    kind, _, detail = _text(error).partition(": ")
    if kind == "IO error" and detail.startswith("lock "):
        return BackendBusy(where, "a program that opened the LevelDB directly", hint=NOT_SHARED)
    told = _without_folder(detail)
    if kind in _DAMAGE:
        return BackendCorrupt(f"{where} is damaged: {told}")
    # Reading beyond the end of a mapped table gives the errno EINVAL.
    if detail.endswith("Invalid argument"):
        return BackendCorrupt(f"{where} is damaged: a file is shorter than it was: {told.partition(':')[0]}")
    if "No such file" in detail:
        return BackendCorrupt(f"{where} is damaged because a file is missing: {told}")
    return environment_error(what, errno_in(detail), told)


def convert_doubt(what: str, error: BaseException) -> BackendInDoubt:
    """Return the exception for a write or a rewrite that failed after it was sent; see `convert_error`."""
    text = _text(error)
    number = getattr(error, "errno", None) or errno_in(text)
    return in_doubt(what, number, _without_folder(text.partition(": ")[2] or text))


def _text(error: BaseException) -> str:
    """Return the message of an exception. plyvel passes bytes to its exceptions."""
    first = error.args[0] if error.args else repr(error)
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(error)


def _without_folder(detail: str) -> str:
    """Return a message of LevelDB with the name of a file instead of its path."""
    path, colon, rest = detail.partition(": ")
    return path.rpartition("/")[2] + colon + rest
