"""Commands that mark atoms: tag, untag, tombstone, revive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from engine.cli.options import Id, Ids, Insist, Reason, Tags
from engine.cli.pages import command, new_app, running
from engine.cli.session import Session
from engine.cli.values import plain

if TYPE_CHECKING:
    from engine.commands import Command

app = new_app()


@command(app, "engine tag 1f0c kitchen chores")
def tag(ctx: typer.Context, atom: Id, tags: Tags) -> int:
    """Put tags on an atom."""
    from engine.commands import Tag

    return _apply(running(ctx), [atom], lambda found: Tag(found, tags), "tagged")


@command(app, "engine untag 1f0c chores")
def untag(ctx: typer.Context, atom: Id, tags: Tags) -> int:
    """Take tags off an atom."""
    from engine.commands import Untag

    return _apply(running(ctx), [atom], lambda found: Untag(found, tags), "untagged")


@command(app, "engine tombstone 1f0c --reason 'no longer true'")
def tombstone(ctx: typer.Context, atoms: Ids, reason: Reason = "") -> int:
    """Hide atoms everywhere; they are kept.

    All of them or none. `engine revive` brings them back.
    """
    from engine.commands import Tombstone

    return _apply(running(ctx), atoms, lambda found: Tombstone(found, reason), "tombstoned")


@command(app, "engine revive 1f0c")
def revive(ctx: typer.Context, atoms: Ids, reason: Reason = "", force: Insist = False) -> int:
    """Bring tombstoned atoms back.

    All of them or none.
    """
    from engine.commands import Revive

    return _apply(running(ctx), atoms, lambda found: Revive(found, reason, force), "revived")


def _apply(session: Session, atoms: Sequence[str], wanted: Callable[[str], Command], done: str) -> int:
    with session.engine() as engine:
        receipts = engine.apply([wanted(engine.resolve(atom)) for atom in atoms])
    changed = sum(receipt.changed for receipt in receipts)
    same = len(receipts) - changed
    session.out.note(f"{done}: {changed}" + (f"; already so: {same}" if same else ""))
    data = [{**plain(receipt), "changed": receipt.changed} for receipt in receipts]
    return session.out.answer(data, [((receipt.subject, ""),) for receipt in receipts])
