"""Commands on edges, and on relations between named things: link, unlink, edges, relate, unrelate."""

from __future__ import annotations

from typing import Any

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.cli.command import argument, command, option
from engine.cli.options import AS_OF, FORCE, ID, REASON, WEIGHT, direction, limit, together
from engine.cli.output import Table
from engine.cli.session import Session
from engine.cli.values import plain
from engine.commands import Link, RegisterType
from engine.front.times import Moment
from engine.ledger.codec import unpack
from proofs.codec import pack

EDGE = together(
    argument("src", "SRC", "The atom it starts at."),
    argument("kind", "TYPE", "Such as references or part_of, or one of yours."),
    argument("dst", "DST", "The atom it leads to."),
)
RELATION = together(
    argument("subject", "SUBJECT", "A name: who or what."),
    argument("predicate", "PREDICATE", "Such as uses, or 'listens on'."),
    argument("target", "OBJECT", "A name: whom or what."),
)


@command("engine link 1f0c references 9a2e", "engine link 1f0c listens_on 9a2e --register --weight 0.5")
@EDGE
@WEIGHT
@option("--data", metavar="JSON", help="Data to keep with it.")
@option("--register", help="Register TYPE if it is not a type yet.")
def link(
    session: Session, src: str, kind: str, dst: str, weight: float, data: str | None, register: bool
) -> int:
    """Join two atoms by an edge.

    Types that are built in: related_to derived_from contradicts supersedes part_of references.
    """
    raw = b"" if data is None else _packed(data)
    with session.engine() as engine:
        wanted = Link(engine.resolve(src), kind, engine.resolve(dst), weight, raw)
        receipt = engine.apply([RegisterType(kind), wanted] if register else [wanted])[-1]
    return session.done(receipt, "linked", "nothing to do: it is there, as it was first recorded")


@command("engine unlink 1f0c references 9a2e")
@EDGE
@REASON
def unlink(session: Session, src: str, kind: str, dst: str, reason: str) -> int:
    """Hide an edge; it is kept.

    `engine link` brings it back.
    """
    with session.engine() as engine:
        receipt = engine.unlink(engine.resolve(src), kind, engine.resolve(dst), reason)
    return session.done(receipt, "unlinked", "nothing to do: there is no such live edge")


@command("engine edges 1f0c", "engine edges 1f0c --direction both --type references")
@ID
@direction("out")
@option("types", "--type", metavar="TYPE", multiple=True, help="Only edges of this type. Repeatable.")
@option("--tombstoned", help="Include hidden edges.")
@limit(100)
@AS_OF
def edges(session: Session, atom: str, as_of: Moment | None, **wanted: Any) -> int:
    """List the edges at an atom."""
    with session.reading(as_of) as memory:
        found = memory.edges(memory.resolve(atom), **wanted)
    data = [
        {**plain(edge), "data": plain(unpack(edge.data, "edge data")) if edge.data else None}
        for edge in found
    ]
    rows = ((edge.src, edge.type, edge.dst, f"{edge.weight:g}", edge.state.name.lower()) for edge in found)
    return session.out.answer(data, [Table(("from", "type", "to", "weight", "state"), rows)])


@command(
    "engine relate daemon uses json_rpc --source 1f0c", "engine relate daemon 'listens on' 'unix socket'"
)
@RELATION
@option("--source", metavar="ID", help="The atom that says so.")
@WEIGHT
@FORCE
def relate(
    session: Session,
    subject: str,
    predicate: str,
    target: str,
    source: str | None,
    weight: float,
    force: bool,
) -> int:
    """Join two named things by a predicate.

    Each thing is an entity: an atom that is made when its name is first used. Spellings that differ in
    case, spaces, _ or - are one name. `engine explore_neighbors NAME` shows what it is connected to.
    """
    with session.engine(create=True) as engine:
        said = None if source is None else engine.resolve(source)
        receipt = engine.relate(subject, predicate, target, source=said, weight=weight, force=force)
    return session.done(receipt, "related", "nothing to do: it is there")


@command("engine unrelate daemon uses json_rpc --reason 'gone with version 2'")
@RELATION
@REASON
def unrelate(session: Session, subject: str, predicate: str, target: str, reason: str) -> int:
    """Hide a relation between two named things; it is kept.

    The named things stay. `engine relate` brings it back.
    """
    with session.engine() as engine:
        receipt = engine.unrelate(subject, predicate, target, reason)
    return session.done(receipt, "unrelated", "nothing to do: there is no such live relation")


def _packed(text: str) -> bytes:
    """The value of `--data`, JSON, as the canonical CBOR that an edge holds.

    Raises:
        InvalidInputError: not JSON.
    """
    try:
        return pack(parse(text))
    except JsonError as error:
        raise InvalidInputError(
            f"--data is not JSON: {error}", hint="""as in --data '{"page": 3}'"""
        ) from None
