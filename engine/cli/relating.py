"""Commands on relations between named things: relate, unrelate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import Insist, Reason
from engine.cli.pages import command, new_app, running
from engine.cli.values import plain

if TYPE_CHECKING:
    from engine.base.model import Receipt
    from engine.cli.session import Session

app = new_app()

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="A name: who or what.", show_default=False)]
Predicate = Annotated[
    str,
    typer.Argument(metavar="PREDICATE", help="Such as uses, or 'listens on'.", show_default=False),
]
Object = Annotated[str, typer.Argument(metavar="OBJECT", help="A name: whom or what.", show_default=False)]


@command(
    app, "engine relate daemon uses json_rpc --source 1f0c", "engine relate daemon 'listens on' 'unix socket'"
)
def relate(
    ctx: typer.Context,
    subject: Subject,
    predicate: Predicate,
    target: Object,
    source: Annotated[
        str | None, typer.Option("--source", metavar="ID", help="The atom that says so.")
    ] = None,
    weight: Annotated[float, typer.Option("--weight", metavar="X", help="How strong it is.")] = 1.0,
    force: Insist = False,
) -> int:
    """Join two named things by a predicate.

    Each thing is an entity: an atom that is made when its name is first used. Spellings that differ in
    case, spaces, _ or - are one name. `engine explore_neighbors NAME` shows what it is connected to.
    """
    session = running(ctx)
    with session.engine(create=True) as engine:
        said = None if source is None else engine.resolve(source)
        receipt = engine.relate(subject, predicate, target, source=said, weight=weight, force=force)
    return _answer(session, receipt, "related", "nothing to do: it is there")


@command(app, "engine unrelate daemon uses json_rpc --reason 'gone with version 2'")
def unrelate(
    ctx: typer.Context, subject: Subject, predicate: Predicate, target: Object, reason: Reason = ""
) -> int:
    """Hide such a relation; it is kept.

    The named things stay. `engine relate` brings it back.
    """
    session = running(ctx)
    with session.engine() as engine:
        receipt = engine.unrelate(subject, predicate, target, reason)
    return _answer(session, receipt, "unrelated", "nothing to do: there is no such live relation")


def _answer(session: Session, receipt: Receipt, done: str, same: str) -> int:
    session.out.note(done if receipt.changed else same)
    return session.out.answer({**plain(receipt), "changed": receipt.changed}, [((receipt.subject, ""),)])
