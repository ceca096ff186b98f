"""The command token, which manages who may use the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from engine.base.errors import InvalidInputError
from engine.base.scope import Scope
from engine.base.time_text import shown_time
from engine.cli.command import argument, command, option, repeated
from engine.cli.options import one_of, time_in_microseconds
from engine.cli.session import Session
from engine.cli.shapes import Table
from engine.memories.settings import find_served
from engine.service.tokens import ALL, KEPT_SECONDS, Token, Tokens, problem_of

ACTIONS = {"new": True, "list": False, "revoke": True}
"""Action → True if it takes the name of a token."""


@command(
    "engine token new laptop --write",
    "engine token new reader --memory 'team-*' --memory '~' --expires 2027-01-31",
    "engine token list",
    "engine token revoke laptop",
)
@argument("action", "ACTION", "The action: new, list or revoke.")
@argument(
    "name", "NAME", "For new and revoke: the name of the token, the actor of its events.", required=False
)
@option("--read", help="For new: the token may only read. This is the default.")
@option("--write", help="For new: the token may read and write.")
@option("--admin", help="For new: the token may also erase, and make, rename and delete memories.")
@repeated(
    "memories",
    "--memory",
    metavar="PATTERN",
    help="For new: a memory that the token is for; * and ? are wildcards, ~ is the memory without a name. "
    "Repeatable. [default: *, which means all]",
)
@option(
    "--expires",
    metavar="TIME",
    callback=time_in_microseconds,
    help="For new: the time from which the token is refused (ISO 8601; UTC if no zone). [default: never]",
)
def token(session: Session, action: str, name: str | None, **wanted: Any) -> int:
    """Make, list and revoke the tokens of `engine serve`.

    A token is printed once, when it is made; only a hash of it is stored. Each token has a name. The name is
    the actor that the history shows for everything that is done with the token.

    The tokens are stored beside the memories of --store, never in a memory. Copies, exports and backups of a
    memory do not contain them. Exit code 6: there is already a token of this name.
    """
    one_of(ACTIONS, action, "action")
    if ACTIONS[action] is (name is None):
        raise InvalidInputError(f"{action} takes {'a' if ACTIONS[action] else 'no'} name")
    if action != "new" and any(wanted.values()):
        raise InvalidInputError("--read, --write, --admin, --memory and --expires are only for new")
    with closing(Tokens(find_served(session.store).url)) as tokens:
        if name is None:
            return _list(session, tokens)
        if action == "new":
            return _new(session, tokens, name, **wanted)
        tokens.revoke(name)
    session.out.note(f"servers that run refuse the token within {KEPT_SECONDS:g} seconds")
    return session.out.answer({"name": name, "revoked": True}, [name])


def _new(
    session: Session,
    tokens: Tokens,
    name: str,
    *,
    read: bool,
    write: bool,
    admin: bool,
    memories: tuple[str, ...],
    expires: int | None,
) -> int:
    if read + write + admin > 1:
        raise InvalidInputError("give one of --read, --write and --admin", hint="--admin includes the others")
    scope = Scope.ADMIN if admin else Scope.WRITE if write else Scope.READ
    patterns = memories or (ALL,)
    made = tokens.new(name, scope, patterns, expires=expires)
    session.out.note(f"token {name}: {scope.name.lower()} on {', '.join(patterns)}; it is shown only once")
    data = {"name": name, "scope": scope.name.lower(), "memories": list(patterns), "token": made}
    return session.out.answer({**data, "expires": _shown(expires)}, [made])


def _list(session: Session, tokens: Tokens) -> int:
    found = tokens.listed()
    if not found:
        session.out.note("there are no tokens")
    for problem in filter(None, map(problem_of, found)):
        session.out.note(problem)
    heads = ("name", "scope", "memories", "created", "expires", "state")
    data = [
        {
            "name": one.name,
            "scope": None if one.scope is None else one.scope.name.lower(),
            "memories": list(one.memories),
            "created": _shown(one.created),
            "expires": _shown(one.expires),
            "state": one.state,
        }
        for one in found
    ]
    return session.out.answer(data, [Table(heads, list(_rows(found)))] if found else [])


def _rows(found: list[Token]) -> Iterator[tuple[str, ...]]:
    for one in found:
        scope = "-" if one.scope is None else one.scope.name.lower()
        memories = " ".join(one.memories) or "-"
        expires = "-" if one.state == "damaged" else _shown(one.expires) or "never"
        yield (one.name, scope, memories, _shown(one.created) or "-", expires, one.state)


def _shown(time: int | None) -> str | None:
    return None if time is None else shown_time(time)
