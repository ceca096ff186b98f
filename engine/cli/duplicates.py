"""Commands on near-duplicates: duplicates, merge, unmerge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from engine.base.errors import ConflictError, InvalidInputError, LimitError, NotFoundError, RefusedError
from engine.cli.options import AsOf, Id, Insist, Limit
from engine.cli.output import Failure, Line, Shown
from engine.cli.pages import command, new_app, running
from engine.cli.values import counted, moment, plain

if TYPE_CHECKING:
    from engine.cli.session import Session
    from engine.engine import Engine
    from engine.query.duplicates import Duplicate, DuplicateGroup

app = new_app()

Keep = Annotated[str, typer.Argument(metavar="KEEP", help="The atom that stays.", show_default=False)]
Other = Annotated[
    str, typer.Argument(metavar="OTHER", help="The atom that goes into it.", show_default=False)
]


@command(app, "engine merge 1f0c 9a2e", "engine merge 1f0c 9a2e --force")
def merge(
    ctx: typer.Context,
    keep: Keep,
    other: Other,
    force: Annotated[bool, typer.Option("--force", help="Also if they are not near-duplicates.")] = False,
) -> int:
    """Let one atom stand for another that says the same.

    It gets the tags and buckets of the other one, which is hidden and kept, and an edge supersedes
    to it. `engine unmerge` takes all of that back. Prints the id of the atom that stays.
    """
    session = running(ctx)
    with session.engine() as engine:
        receipt = engine.merge(engine.resolve(keep), engine.resolve(other), force=force)
    session.out.note("merged" if receipt.changed else "nothing to do: they are merged already")
    return session.out.answer({**plain(receipt), "changed": receipt.changed}, [((receipt.subject, ""),)])


@command(app, "engine unmerge 9a2e")
def unmerge(ctx: typer.Context, other: Id, force: Insist = False) -> int:
    """Take a merge back.

    The atom that was merged is there again, and the one that was kept loses what it gained by that,
    but for what was put on it by hand since.
    """
    session = running(ctx)
    with session.engine() as engine:
        receipt = engine.unmerge(engine.resolve(other), force=force)
    session.out.note("unmerged" if receipt.changed else "nothing to do: it is live")
    return session.out.answer({**plain(receipt), "changed": receipt.changed}, [((receipt.subject, ""),)])


@command(
    app,
    "engine duplicates",
    "engine duplicates --of 1f0c",
    "engine duplicates --merge --dry-run",
    "engine duplicates --merge --yes",
)
def duplicates(
    ctx: typer.Context,
    of: Annotated[str | None, typer.Option("--of", metavar="ID", help="Only the group of this atom.")] = None,
    limit: Limit = 100,
    merging: Annotated[bool, typer.Option("--merge", help="Merge each group into the atom to keep.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be merged.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Merge; without it that is refused.")] = False,
    as_of: AsOf = None,
) -> int:
    """List groups of atoms that say almost the same.

    The atom to keep comes first; then the others, and in how many bits their fingerprints differ
    from its. With --merge, those that differ in fewer than 3 go into it, each group by itself.
    """
    if (yes or dry_run) and not merging:
        raise InvalidInputError("--yes and --dry-run are about merging", hint="add --merge")
    if merging and as_of is not None:
        raise InvalidInputError("the past cannot be merged", hint="leave --as-of out, or --merge")
    session = running(ctx)
    failure, merged = None, dict[str, list[str]]()
    then = moment(as_of)
    with session.engine() as engine:
        with nullcontext(engine) if then is None else engine.as_of(then) as memory:
            groups = memory.duplicates(limit=limit, of=None if of is None else memory.resolve(of))
        wanted = {group.keep.id: near for group in groups if (near := _near(group))}
        atoms = sum(1 + len(group.others) for group in groups)
        session.out.note(f"{counted(len(groups), 'group')}, {counted(atoms, 'atom')}")
        would = f"{counted(sum(map(len, wanted.values())), 'atom')} would be merged into {len(wanted)}"
        if merging and dry_run:
            session.out.note(would)
        elif merging and not yes and wanted:
            failure = Failure(
                RefusedError.exit_code,
                RefusedError.code,
                f"nothing was merged: {would}",
                "add --yes to do it",
            )
        elif merging:
            merged, failure = _merge(session, engine, wanted)
    data = [plain(group) | ({"merged": merged.get(group.keep.id, [])} if merging else {}) for group in groups]
    return session.out.answer(data, (item for group in groups for item in _shown(group)), failure=failure)


def _near(group: DuplicateGroup) -> list[str]:
    """Who of a group may be merged into the atom to keep."""
    from engine.text.simhash import NEAR_BITS

    return [other.id for other in group.others if other.distance < NEAR_BITS]


def _merge(
    session: Session, engine: Engine, wanted: dict[str, list[str]]
) -> tuple[dict[str, list[str]], Failure | None]:
    """Merge one group after the other; what cannot be merged is said, and the others still are."""
    from engine.commands import Merge

    merged: dict[str, list[str]] = {keep: [] for keep in wanted}
    with session.meter("merged", "groups") as move:
        for done, (keep, others) in enumerate(wanted.items(), 1):
            receipts = engine.apply_many(Merge(keep, other) for other in others)
            try:
                for other, _ in zip(others, receipts, strict=True):
                    merged[keep].append(other)
            except (ConflictError, LimitError, NotFoundError, RefusedError) as error:
                session.out.note(f"not merged into {keep}: {error}")
            move(done, len(wanted))
    left = sum(len(merged[keep]) < len(others) for keep, others in wanted.items())
    if not left:
        return merged, None
    return merged, Failure(
        ConflictError.exit_code,
        ConflictError.code,
        f"not merged: {left:,} of {counted(len(wanted), 'group')}",
        "why is said above, without --quiet; `engine merge` merges two atoms by themselves",
    )


def _shown(group: DuplicateGroup) -> Iterator[Shown]:
    yield _line(group.keep, "keep")
    for other in group.others:
        yield _line(other, counted(other.distance, "bit"))
    yield ""


def _line(atom: Duplicate, place: str) -> Line:
    tags = "".join(f" #{tag}" for tag in atom.tags)
    return (
        (atom.id, "cyan"),
        (f"  {place:<7}", "green"),
        (f"  {atom.title}" if atom.title else "", "bold"),
        (f"  {atom.snippet}", ""),
        (f"  {atom.source}" if atom.source else "", "dim"),
        (tags, "magenta"),
    )
