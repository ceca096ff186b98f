"""Commands on edges, relations and lists: link, unlink, relate, unrelate, edges, find, tags."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Unpack

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, encode, parse
from engine.base.model import Direction
from engine.base.validation import choice
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Natural, Positive, command
from engine.cli.shared_options import AsOf, FilterOptions
from engine.cli.shown_labels import Labels, labels, page_of
from engine.cli.shown_parts import Fields, Shown, Table
from engine.commands import Link, RegisterType
from engine.commands.edges import KNOWN_TYPES, UnknownTypeError
from engine.ledger.layout import unpack
from engine.ledger.queries import data_of, exact_type_in
from engine.query.graph.find import Follow, Form, Found, every
from proofs.codec import pack

if TYPE_CHECKING:
    from engine.base.model import Edge


@command("engine link 1f0c references 9a2e", "engine link 1f0c listens_on 9a2e --register --weight 0.5")
def link(
    session: Session,
    src: str,
    kind: str,
    dst: str,
    *,
    weight: float = 1.0,
    data: str | None = None,
    register: bool = False,
) -> int:
    """Add an edge between two atoms.

    Built-in types: related_to derived_from contradicts supersedes part_of references.

    Args:
        src: The atom where the edge starts.
        kind: `TYPE` An edge type, such as references or part_of.
        dst: The atom where the edge ends.
        data: `JSON` Data to store with the edge.
        register: Register TYPE if it is not a known type.
    """
    raw = b"" if data is None else _packed(data)
    with session.engine() as engine:
        wanted = Link(engine.resolve(src), kind, engine.resolve(dst), weight, raw)
        try:
            receipt = engine.apply([RegisterType(kind), wanted] if register else [wanted])[-1]
        except UnknownTypeError as error:
            error.hint = f"register the type with --register, or {KNOWN_TYPES}"
            raise
    return session.done(receipt, "linked", "nothing to do: this edge already exists")


@command("engine unlink 1f0c references 9a2e")
def unlink(session: Session, src: str, kind: str, dst: str, *, reason: str = "") -> int:
    """Hide an edge without deleting it.

    `engine link` brings the edge back.

    Args:
        src: The atom where the edge starts.
        kind: `TYPE` An edge type, such as references or part_of.
        dst: The atom where the edge ends.
    """
    with session.engine() as engine:
        receipt = engine.unlink(engine.resolve(src), kind, engine.resolve(dst), reason)
    return session.done(receipt, "unlinked", "nothing to do: there is no live edge like this")


@command(
    "engine relate daemon uses json_rpc --source 1f0c", "engine relate daemon 'listens on' 'unix socket'"
)
def relate(
    session: Session,
    subject: str,
    predicate: str,
    target: str,
    *,
    source: str | None = None,
    weight: float = 1.0,
    force: bool = False,
) -> int:
    """Add a relation between two entities.

    An entity is an atom that is created when its name is first used. Names that differ only in case, spaces,
    _ or - are the same. `engine explore_neighbors NAME` shows the relations.

    Args:
        subject: The name of an entity.
        predicate: A predicate, such as uses or 'listens on'.
        target: `OBJECT` The name of another entity.
        source: `ID` The atom that is evidence for the relation.
    """
    with session.engine(create=True) as engine:
        said = None if source is None else engine.resolve(source)
        receipt = engine.relate(subject, predicate, target, source=said, weight=weight, force=force)
    return session.done(receipt, "related", "nothing to do: this relation already exists")


@command("engine unrelate daemon uses json_rpc --reason 'gone with version 2'")
def unrelate(session: Session, subject: str, predicate: str, target: str, *, reason: str = "") -> int:
    """Hide a relation between two entities without deleting it.

    The entities are not hidden. `engine relate` brings the relation back.

    Args:
        subject: The name of an entity.
        predicate: A predicate, such as uses or 'listens on'.
        target: `OBJECT` The name of another entity.
    """
    with session.engine() as engine:
        receipt = engine.unrelate(subject, predicate, target, reason)
    return session.done(receipt, "unrelated", "nothing to do: there is no live relation like this")


def _packed(text: str) -> bytes:
    """Return the JSON value of `--data` as the canonical CBOR that an edge stores.

    Raises:
        InvalidInputError: the value is not JSON.
    """
    try:
        return pack(parse(text))
    except JsonError as error:
        raise InvalidInputError(
            f"--data is not JSON: {error}", hint="""example: --data '{"page": 3}'"""
        ) from None


@command(
    "engine edges 1f0c",
    "engine edges 'Maps of Content'",
    "engine edges 1f0c --direction out --type references",
)
def edges(
    session: Session,
    atom: str,
    *,
    direction: str = "both",
    types: tuple[str, ...] = (),
    tombstoned: bool = False,
    limit: Positive = 100,
    as_of: AsOf | None = None,
) -> int:
    """List the edges of an atom, or of all pieces of a page.

    An arrow shows whether an edge starts at the atom (→) or ends at it (←).

    Args:
        atom: `ID` The id of an atom, or at least its first 4 digits; or the path, the title or an alias of a
            page.
        types: `--type TYPE` Only edges of this type. Repeatable.
        tombstoned: Include hidden edges.
    """
    with session.reading(as_of) as memory:
        page = page_of(memory, atom)
        ids = [memory.resolve(atom)] if page is None else page.ids
        options: Any = {"direction": direction, "types": types, "tombstoned": tombstoned, "limit": limit}
        each = (every(memory.edges, one, **options) for one in ids)
        # An edge between two pieces of the page is an edge of both.
        listed = list(islice(dict.fromkeys(chain.from_iterable(each)), limit))
        named = labels(session, memory, (end for edge in listed for end in (edge.src, edge.dst)))
    data = [
        {**encode(edge), "data": encode(unpack(edge.data, "edge data")) if edge.data else None}
        for edge in listed
    ]
    rows = [_row(edge, frozenset(ids), named) for edge in listed]
    session.out.listed(len(listed), "edge", limit)
    heads = ("", "type", "id", "name", "weight", "state")
    return session.out.answer(data, [Table(heads, rows)] if rows else [])


def _row(edge: Edge, own: frozenset[str], named: Labels) -> tuple[str, ...]:
    way, far = ("→", edge.dst) if edge.src in own else ("←", edge.src)
    state, hidden = edge.state.name.lower(), named.hidden(far)
    if hidden:
        state += f", the atom is {hidden}"
    return way, _type_of(edge), named.id(far), named.name(far), f"{edge.weight:g}", state


def _type_of(edge: Edge) -> str:
    """Return the type of an edge. For a relation whose words cannot be an edge type, return the words."""
    exact = exact_type_in(data_of(edge))
    return edge.type if exact is None else exact


@command(
    "engine find --tag kitchen --limit 20",
    "engine find --from 1f0c --follow references --max-hops 2",
    "engine find --source 'notes/*' --form short",
)
def find(
    session: Session,
    *,
    limit: Positive = 20,
    start: str | None = None,
    follow: tuple[str, ...] = (),
    direction: str = "out",
    min_hops: Natural = 1,
    max_hops: Natural = 1,
    form: str = "medium",
    mentions: tuple[str, ...] = (),
    hidden: bool = False,
    as_of: AsOf | None = None,
    **narrow: Unpack[FilterOptions],
) -> int:
    """List atoms by their fields, or by following edges.

    Args:
        start: `--from ID` Follow edges from this atom, and list the atoms reached.
        follow: `TYPE` Only edges of this type. Repeatable.
        min_hops: The minimum number of hops.
        max_hops: The maximum number of hops, at most 6.
        form: `FORM` short (whole id and title), medium (title and 200 characters) or full.
        hidden: Include tombstoned atoms, and atoms of which only an earlier version passes the filters.
    """
    walk = Follow(follow, choice(Direction, direction, "--direction"), min_hops, max_hops)
    if start is None and walk != Follow():
        raise InvalidInputError(
            "--follow, --direction, --min-hops and --max-hops need an atom to start from",
            hint="add --from ID",
        )
    shown, walked = choice(Form, form, "--form"), start is not None
    with session.engine() as engine:
        from_ = None if start is None else engine.resolve(start)
        steps = None if start is None else walk
        found = every(
            engine.find, limit=limit, from_=from_, follow=steps, form=shown, mentions=mentions, hidden=hidden,
            as_of=as_of, **narrow,
        )  # fmt: skip
        answer = list(found)
        # Programs read the short form, and a short id may become ambiguous later.
        named = labels(session, engine, () if shown is Form.SHORT else (one.id for one in answer))
    session.out.listed(len(answer), "atom", limit)
    lines = (item for one in answer for item in _found(one, shown, walked, named))
    return session.out.answer(encode(answer), lines)


@command("engine tags", "engine tags --limit 10")
def tags(session: Session, *, limit: Positive = 100, as_of: AsOf | None = None) -> int:
    """List the tags, each with its number of atoms.

    First come the tags that people gave, then the tags of atoms that have them only because `engine dream`
    found them. In both lists, the most frequent tag comes first, and --limit applies. Only live atoms are
    counted.
    """
    with session.reading(as_of) as memory:
        found = memory.tags()
    data = [
        {"tag": name, "atoms": atoms, "by": by}
        for by, counts in (("people", found.people), ("dreamer", found.dreamer))
        for name, atoms in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
    ]
    session.out.listed(len(data), "tag", limit)
    heads = ("tag", "atoms", "by")
    return session.out.answer(data, [Table(heads, [tuple(map(str, one.values())) for one in data])])


def _found(found: Found, form: Form, walked: bool, named: Labels) -> Iterator[Shown]:
    text = " ".join((found.text or "").split())
    fields = [(named.id(found.id), "cyan")]
    if walked:
        fields.append((f"{found.hops} hop{'s' * (found.hops > 1)}", "green"))
    fields.append((found.title or ("" if text else "untitled"), "bold"))
    if form is Form.MEDIUM:
        fields.append((text, ""))
    yield Fields(tuple(fields))
    if found.atom is not None:
        yield found.atom.content + "\n"
