"""Commands that list: find, tags."""

from __future__ import annotations

from collections.abc import Iterator

from engine.base.errors import InvalidInputError
from engine.base.model import Direction
from engine.base.validation import choice
from engine.cli.command import command, option
from engine.cli.options import AS_OF, at_least, direction, filter_options, limit
from engine.cli.output import Fields, Shown, Table
from engine.cli.session import Session
from engine.cli.values import plain
from engine.front.times import Moment
from engine.query.filters import Filters
from engine.query.graph.find import Follow, Form, Found


@command(
    "engine find --tag kitchen --limit 20",
    "engine find --from 1f0c --follow references --max-hops 2",
    "engine find --source 'notes/*' --form short",
)
@limit(20)
@option("start", "--from", metavar="ID", help="Walk edges from this atom.")
@option("--follow", metavar="TYPE", multiple=True, help="Only edges of this type. Repeatable.")
@direction("out")
@option("--min-hops", metavar="N", type=at_least(0), default=1, help="The least number of hops.")
@option(
    "--max-hops", metavar="N", type=at_least(0), default=1, help="The greatest number of hops, 6 or fewer."
)
@option(
    "--form",
    metavar="FORM",
    default="medium",
    help="short (title), medium (and 200 characters) or full.",
)
@filter_options("superseded")
@AS_OF
def find(
    session: Session,
    limit: int,
    start: str | None,
    follow: tuple[str, ...],
    direction: str,
    min_hops: int,
    max_hops: int,
    form: str,
    filters: Filters,
    as_of: Moment | None,
) -> int:
    """List atoms by what they are, or by walking edges."""
    walk = Follow(follow, choice(Direction, direction, "--direction"), min_hops, max_hops)
    if start is None and walk != Follow():
        raise InvalidInputError(
            "--follow, --direction and --…-hops need an atom to start at", hint="add --from ID"
        )
    wanted = choice(Form, form, "--form")
    with session.engine() as engine:
        found = engine.find(
            limit=limit,
            from_=None if start is None else engine.resolve(start),
            follow=None if start is None else walk,
            filters=filters,
            form=wanted,
            as_of=as_of,
        )
    walked = start is not None
    return session.out.answer(plain(found), (item for one in found for item in _found(one, wanted, walked)))


@command("engine tags", "engine tags --limit 10")
@limit(100)
@AS_OF
def tags(session: Session, limit: int, as_of: Moment | None) -> int:
    """List the tags and how many atoms have each.

    The most used first; live atoms only.
    """
    with session.reading(as_of) as memory:
        counts = memory.tags()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
    data = [{"tag": name, "atoms": atoms} for name, atoms in ranked]
    return session.out.answer(data, [Table(("tag", "atoms"), ((name, str(atoms)) for name, atoms in ranked))])


def _found(found: Found, form: Form, walked: bool) -> Iterator[Shown]:
    text = " ".join((found.text or "").split())
    fields = [(found.id, "cyan")]
    if walked:
        fields.append((f"{found.hops} hop{'s' * (found.hops > 1)}", "green"))
    fields.append((found.title or ("" if text else "untitled"), "bold"))
    if form is Form.MEDIUM:
        fields.append((text, ""))
    yield Fields(tuple(fields))
    if found.atom is not None:
        yield found.atom.content + "\n"
