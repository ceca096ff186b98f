"""The tokens of the service: who may use which memories, and for what.

A token is `mr_` and 43 characters of base64url, which encode 32 random bytes. It is shown once, when it is
made. Only its SHA-256 is stored. A slow hash would add no protection, because a token is random. The name
of a token is the actor of the events that its holder causes.
"""

from __future__ import annotations

import hmac
import logging
import re
import secrets
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from backends import locate
from backends.databases import memory_name
from engine.base.errors import (
    ConflictError,
    CorruptionError,
    InvalidInputError,
    LimitError,
    NotFoundError,
    translated,
)
from engine.base.scopes import Scope
from engine.service.access import ALL, UNNAMED, Grant, GrantCache
from engine.service.token_tables import DamagedRow, TokenRow, TokenTable, open_tokens

PATTERNS_MAX: Final = 64
"""The maximum number of patterns of one token."""

VISITOR: Final = "visitor"
"""The name of a grant that belongs to one run of the service, and is not in the table."""

RESERVED: Final = frozenset(
    {
        "agent",
        "dreamer",
        "engine",
        "hook",
        "import",
        "ingest",
        "mirror",
        "rescue",
        "service",
        "sync",
        "user",
        VISITOR,
    }
)
"""The actors of memroot itself, of the command line and of `engine mcp`. No token may have such a name,
because its events could not be distinguished from theirs.
"""

log: Final = logging.getLogger("engine.service")

_PREFIX: Final = "mr_"
_RANDOM_BYTES: Final = 32
_NAME: Final = re.compile(r"[a-z0-9._-]{1,32}")
_PATTERN: Final = re.compile(r"[a-z0-9._*?-]{1,32}")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the table, without the token itself."""

    name: str
    """The name; if the row is damaged, the name as it is shown and as `revoke` takes it."""
    scope: Scope | None
    """The scope of the token; None if the token is damaged or unsupported."""
    memories: tuple[str, ...]
    created: int | None
    """The time at which it was made, in µs since 1970 UTC; None if the token is damaged."""
    expires: int | None
    """The time from which it is refused, in µs since 1970 UTC; None for never."""
    state: Literal["valid", "expired", "damaged", "unsupported"]
    """Only a valid token is accepted. `damaged`: the stored row does not match its checksum. `unsupported`:
    a later version has made the token, with a scope that this version does not know."""


class Tokens(GrantCache):
    """The tokens for the stores at a URL. The object may be used by several threads at once.

    Neither messages nor logs contain a token. A token whose row is damaged is refused, and the log names it.
    The other tokens stay valid.

    Args:
        url: The URL of the stores: a store, or a folder, file or database of memories. A store in main memory
            has no table: it has only the tokens that `for_this_run` makes.
        clock: The current time, in seconds since 1970 UTC.
        monotonic: The clock for the age of kept grants, in seconds.

    Raises:
        InvalidInputError: the URL is invalid.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._table: TokenTable | None = None
        with translated():
            if locate(url).kind != "memory":
                self._table = open_tokens(url)
        super().__init__(self._granted_by_table, clock, monotonic)

    def _granted_by_table(self, digest: bytes) -> tuple[Grant, int] | None:
        if self._table is None:
            return None
        with _translated():
            row = self._table.find(digest)
        grant = None if row is None else _grant(row)
        # A table may take other hashes for equal.
        if grant is None or not isinstance(row, TokenRow) or not hmac.compare_digest(row.hash, digest):
            return None
        return grant, row.expires

    def for_this_run(self, scope: Scope = Scope.READ, *, name: str = VISITOR) -> str:
        """Make a token that ends with this object and is never stored. It allows all memories."""
        bearer = _random()
        self._keep_for_ever(bearer, Grant(name, scope, (ALL,)))
        return bearer

    def new(
        self,
        name: str,
        scope: Scope = Scope.READ,
        memories: Iterable[str] = (ALL,),
        *,
        expires: int | None = None,
    ) -> str:
        """Make a token, and return it. It cannot be shown again.

        Args:
            name: The name, 1 to 32 of the characters `a-z0-9._-`: the actor of the events of its holder.
            scope: The scope of the token. Each scope includes the scopes before it.
            memories: Patterns of names of memories: `*` stands for any number of characters, `?` for one.
                `~` is the memory without a name; `*` alone covers it, too.
            expires: The time from which the token is refused, in µs since 1970 UTC; None for never.

        Raises:
            InvalidInputError: the name or a pattern is invalid, or the time has passed.
            ConflictError: there is a token of this name.
            NotFoundError: there is no store at the URL.
        """
        table = self._tables()
        created = self._now()
        if expires is not None and expires <= created:
            raise InvalidInputError("the token would expire before it was made", hint="give a later time")
        patterns = " ".join(_patterns(memories))
        bearer = _random()
        digest = sha256(bearer.encode()).digest()
        row = TokenRow(_name(name), digest, scope.name.lower(), patterns, created, expires or 0)
        with _translated():
            added = table.add(row)
        if not added:
            raise ConflictError(
                f"there is already a token named {name!r}",
                hint=f"choose another name, or revoke that token first (`engine token revoke {name}`)",
            )
        return bearer

    def listed(self) -> list[Token]:
        """Return all tokens of the table in the order of their names."""
        if self._table is None:
            return []
        with _translated():
            rows = self._table.rows()
        now = self._now()
        return [_token(row, now) for row in rows]

    def revoke(self, name: str) -> None:
        """Remove a token. Every service on these stores refuses it at the latest after KEPT_SECONDS.

        Args:
            name: The name of the token, as `listed` shows it.

        Raises:
            InvalidInputError: no token can have this name.
            NotFoundError: there is no token of this name.
        """
        table = self._tables()
        if not (isinstance(name, str) and name.isascii() and name.isprintable()):
            _name(name)
        with _translated():
            removed = table.remove(name)
        self._forget(name)
        if not removed:
            _name(name)
            raise NotFoundError(
                f"there is no token named {name!r}", hint="`engine token list` shows the names"
            )

    def _tables(self) -> TokenTable:
        if self._table is None:
            raise InvalidInputError("a store in main memory has no tokens, because it ends with the process")
        return self._table

    def close(self) -> None:
        """Release the table, and forget all grants."""
        self._kept.clear()
        table, self._table = self._table, None
        if table is not None:
            table.close()


@contextmanager
def _translated() -> Iterator[None]:
    """Convert errors as `translated` does; the repair of a damaged table is not the repair of a store."""
    try:
        with translated():
            yield
    except CorruptionError as error:
        raise CorruptionError(
            str(error),
            hint="delete this file, and make all tokens again",
        ) from error


def _random() -> str:
    return _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def _grant(row: TokenRow | DamagedRow) -> Grant | None:
    """Return the grant of a row. If the row grants nothing, log why, and return None."""
    token = _token(row, 0)
    if token.scope is None:
        log.warning("%s", problem_of(token))
        return None
    return Grant(token.name, token.scope, token.memories)


def _token(row: TokenRow | DamagedRow, now: int) -> Token:
    if isinstance(row, DamagedRow):
        return Token(row.name, None, (), None, None, "damaged")
    memories = tuple(row.memories.split(" "))
    scope = next((scope for scope in Scope if row.scope == scope.name.lower()), None)
    state: Literal["valid", "expired", "unsupported"]
    state = "unsupported" if scope is None else "expired" if 0 < row.expires <= now else "valid"
    return Token(row.name, scope, memories, row.created, row.expires or None, state)


def problem_of(token: Token) -> str | None:
    """Return why the row of a token grants nothing, without its content, and what to do; otherwise None."""
    why = {
        "damaged": "is damaged: its row does not match its checksum",
        "unsupported": "has a scope that this version does not know",
    }.get(token.state)
    if why is None:
        return None
    revoke = f"engine token revoke {shlex.quote(token.name)}"
    return f"the token {token.name} {why}; it is refused: revoke it (`{revoke}`), and make it anew"


def _name(name: object) -> str:
    """Return `name` if a token may have it.

    Raises:
        InvalidInputError: it is not a name, or is the name of an actor of memroot itself.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInputError(f"invalid name of a token {ascii(name)[:80]}: use 1 to 32 of `a-z0-9._-`")
    if name in RESERVED:
        raise InvalidInputError(
            f"the name {name!r} is reserved, because it is an actor of memroot itself",
            hint=f"the reserved names are {', '.join(sorted(RESERVED))}",
        )
    return name


def _patterns(memories: object) -> Sequence[str]:
    """Return the patterns, sorted and without duplicates.

    Raises:
        InvalidInputError: there is none, or one that cannot cover a memory.
        LimitError: there are more than PATTERNS_MAX.
    """
    if isinstance(memories, (str, bytes)) or not isinstance(memories, Iterable):
        raise InvalidInputError("the patterns of memories must be a list of texts")
    patterns = sorted({_pattern(pattern) for pattern in memories})
    if not patterns:
        raise InvalidInputError("a token needs at least one pattern of memories", hint="`*` means all")
    if len(patterns) > PATTERNS_MAX:
        raise LimitError(f"there are {len(patterns)} patterns; a token has at most {PATTERNS_MAX}")
    return patterns


def _pattern(pattern: object) -> str:
    if pattern == UNNAMED:
        return UNNAMED
    if not isinstance(pattern, str) or not _PATTERN.fullmatch(pattern) or "**" in pattern:
        raise InvalidInputError(
            f"invalid pattern of memories {ascii(pattern)[:80]}: use 1 to 32 of `a-z0-9._-`, `*` for any "
            "characters, `?` for one, or `~` for the memory without a name"
        )
    if not set(pattern) & {"*", "?"}:
        with translated():
            memory_name(pattern)
    return pattern
