"""Commands on atoms that say the same, or say it better: duplicates, merge, unmerge, supersede."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

from engine.base.errors import ConflictError, InvalidInputError, LimitError, NotFoundError, RefusedError
from engine.cli.command import argument, command, option
from engine.cli.options import AS_OF, FORCE, ID, REASON, dry_run, limit
from engine.cli.output import Failure, Line, Shown
from engine.cli.session import Session
from engine.cli.values import counted, plain
from engine.commands import Merge, Supersede
from engine.engine import Engine
from engine.front.times import Moment
from engine.query.duplicates import Duplicate, DuplicateGroup
from engine.text.simhash import NEAR_BITS


@command("engine supersede 1f0c 9a2e --reason 'descaled on Fridays since June'")
@argument("old", "OLD", "The atom that is wrong.")
@argument("new", "NEW", "The atom that is right.")
@REASON
def supersede(session: Session, old: str, new: str, reason: str) -> int:
    """Replace one atom by another; the old one is kept.

    It is no longer recalled, nor is what says almost the same as OLD. `--superseded` asks for both; the tag
    `superseded` says which it is. `engine revert` takes it back.
    """
    with session.engine() as engine:
        given = engine.resolve(old), engine.resolve(new)
        receipt = engine.apply([Supersede(*given, reason)])[0]
        alike = [one.id for group in engine.duplicates(of=given[0]) for one in (group.keep, *group.others)]
    code = session.done(receipt, "superseded", "nothing to do: it is superseded by that one")
    for one in alike:
        if one not in given:
            session.out.note(f"{one} says almost the same as the old one, and is not recalled either")
    return code


@command("engine merge 1f0c 9a2e", "engine merge 1f0c 9a2e --force")
@argument("keep", "KEEP", "The atom that stays.")
@argument("other", "OTHER", "The atom that is merged into it.")
@option("--force", help="Merge them even if they are not near-duplicates.")
def merge(session: Session, keep: str, other: str, force: bool) -> int:
    """Merge an atom into another that says the same.

    It gets the tags and buckets of the other one, which is hidden and kept, and an edge supersedes
    to it. `engine unmerge` takes all of that back. Prints the id of the atom that stays.
    """
    with session.engine() as engine:
        receipt = engine.merge(engine.resolve(keep), engine.resolve(other), force=force)
    return session.done(receipt, "merged", "nothing to do: they are merged already")


@command("engine unmerge 9a2e")
@ID
@FORCE
def unmerge(session: Session, atom: str, force: bool) -> int:
    """Undo a merge.

    The atom that was merged is there again, and the one that was kept loses what it gained by that,
    but for what was put on it by hand since.
    """
    with session.engine() as engine:
        receipt = engine.unmerge(engine.resolve(atom), force=force)
    return session.done(receipt, "unmerged", "nothing to do: it is live")


@command(
    "engine duplicates",
    "engine duplicates --of 1f0c",
    "engine duplicates --merge --dry-run",
    "engine duplicates --merge --yes",
)
@option("--of", metavar="ID", help="Only the group of this atom.")
@limit(100)
@option("merging", "--merge", help="Merge each group into the atom to keep.")
@dry_run("Only report what would be merged.")
@option("--yes", help="Confirm --merge, which is refused without it.")
@AS_OF
def duplicates(
    session: Session,
    of: str | None,
    limit: int,
    merging: bool,
    dry_run: bool,
    yes: bool,
    as_of: Moment | None,
) -> int:
    """List groups of atoms that say almost the same thing.

    The atom to keep comes first; then the others, and in how many bits their fingerprints differ
    from its. With --merge, those that differ in fewer than 3 go into it, each group by itself.
    """
    if (yes or dry_run) and not merging:
        raise InvalidInputError("--yes and --dry-run have no effect without --merge", hint="add --merge")
    if merging and as_of is not None:
        raise InvalidInputError(
            "--merge cannot be combined with --as-of: the past cannot be changed",
            hint="leave out one of them",
        )
    failure, merged = None, dict[str, list[str]]()
    with (
        session.engine() as engine,
        nullcontext(engine) if as_of is None else engine.as_of(as_of) as memory,
    ):
        groups = memory.duplicates(limit=limit, of=None if of is None else memory.resolve(of))
        wanted = {group.keep.id: near for group in groups if (near := _near(group))}
        atoms = sum(1 + len(group.others) for group in groups)
        session.out.note(f"{counted(len(groups), 'group')}, {counted(atoms, 'atom')}")
        would = f"{counted(sum(map(len, wanted.values())), 'atom')} would be merged into {len(wanted)}"
        if merging and dry_run:
            session.out.note(would)
        elif merging and not yes and wanted:
            failure = Failure.of(RefusedError(f"nothing was merged: {would}", hint="add --yes to do it"))
        elif merging:
            merged, failure = _merge(session, engine, wanted)
    data = [plain(group) | ({"merged": merged.get(group.keep.id, [])} if merging else {}) for group in groups]
    return session.out.answer(data, (item for group in groups for item in _shown(group)), failure=failure)


def _near(group: DuplicateGroup) -> list[str]:
    """Who of a group may be merged into the atom to keep."""
    return [other.id for other in group.others if other.distance < NEAR_BITS]


def _merge(
    session: Session, engine: Engine, wanted: dict[str, list[str]]
) -> tuple[dict[str, list[str]], Failure | None]:
    """Merge one group after the other; what cannot be merged is said, and the others still are."""
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
    problem = ConflictError(
        f"not merged: {left:,} of {counted(len(wanted), 'group')}",
        hint="why is said above, without --quiet; `engine merge` merges two atoms by themselves",
    )
    return merged, Failure.of(problem)


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
