"""Commands that add, change, hide, merge and supersede atoms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from json import dumps
from typing import TYPE_CHECKING, Any

from engine.base import validation
from engine.base.errors import ConflictError, InvalidInputError, LimitError, NotFoundError, RefusedError
from engine.base.limits import CONTENT_BYTES_MAX
from engine.base.model import Atom
from engine.base.time_text import Moment, shown_time
from engine.cli.command import argument, command, option
from engine.cli.labels import Labels, labels
from engine.cli.numbers import WHOLE
from engine.cli.options import AS_OF, ATOM_FIELDS, FORCE, ID, IDS, NAMED, REASON, dry_run, limit
from engine.cli.output import STDIN, Failure, plain, receipt_data
from engine.cli.pages import page_lines, page_of
from engine.cli.session import Session
from engine.cli.shapes import Fields, Shown, counted, line, shown
from engine.commands import Add, Command, Merge, Revive, Supersede, Tag, Tombstone, Untag
from engine.engine import Engine
from engine.text.simhash import NEAR_BITS

if TYPE_CHECKING:
    from engine.query.duplicates import Duplicate, DuplicateGroup

TAGS = argument("tags", "TAG", "Tags, with or without #.", many=True)


@command(
    "engine add 'The kettle is descaled on Mondays.' --tag kitchen",
    "pbpaste | engine add - --source clipboard",
)
@argument("text", "TEXT", "The text, or - to read it from stdin.")
@ATOM_FIELDS
@option("--key", metavar="NAME", help="A key that you choose for the atom, unique within the source.")
@option("--id", metavar="UUID", help="The id to use instead of the computed id.")
@option("--occurrence", metavar="N", type=WHOLE, help="The number of earlier identical texts in the source.")
@FORCE
@option("--again", help="Add the text even if another atom holds it already.")
def add(session: Session, text: str, force: bool, again: bool, **fields: Any) -> int:
    """Add one atom.

    Prints its id. If the memory already contains an equal or nearly equal text, nothing is added, and the id
    of the atom with that text is printed. Defaults: kind note, bucket inbox, provenance internal, created
    now. Creates the store if it does not exist.
    """
    tell_tags(session, fields["tags"])
    wanted = Add(_given_text(text), **_given(fields), force=force)
    wanted.body()  # Validate before the store is created: invalid input must not leave an empty store behind.
    with session.engine(create=True) as engine:
        receipt = engine.apply([wanted])[0] if again else engine.add_once(wanted)
        if receipt.changed:
            _tell_near(session, engine, receipt.id)
    same = f"nothing to do: the atom already exists ({receipt.state.name.lower()})"
    if receipt.held is not None:
        same = (
            f"nothing was added: the memory holds {'this' if receipt.held.equal else 'nearly this'} text "
            "already; revise that atom, or add the text with --again"
        )
    return session.done(receipt, "added", same)


def _tell_near(session: Session, engine: Engine, atom: str) -> None:
    """Print a note if another atom says nearly the same as a new atom."""
    if session.out.json or session.out.quiet:
        return
    for group in engine.duplicates(of=atom, limit=1):
        named = labels(session, engine, (one.id for one in (group.keep, *group.others)))
        others = [named.id(one.id) for one in (group.keep, *group.others) if one.id != atom]
        session.out.note(
            f"{others[0]} says nearly the same; `engine duplicates --of {named.id(atom)}` shows how"
        )


@command("engine revise 1f0c 'The kettle is descaled on Fridays.'", "engine revise 1f0c --title Kettle")
@ID
@argument("text", "TEXT", "The new text, or - to read it from stdin.", required=False)
@ATOM_FIELDS
@FORCE
def revise(session: Session, atom: str, text: str | None, force: bool, **options: Any) -> int:
    """Change an atom's text or fields; its history is kept.

    Fields that are not given do not change. --tag and --bucket replace all tags and buckets; an empty
    --title or --source removes that field.
    """
    tell_tags(session, options["tags"])
    fields = _given(options)
    if text is not None:
        fields["content"] = _given_text(text)
    if not fields:
        raise InvalidInputError("no change was given", hint="give a new TEXT or an option such as --title")
    for name in ("title", "source"):
        if fields.get(name) == "":
            fields[name] = None
    with session.engine() as engine:
        receipt = engine.revise(engine.resolve(atom), **fields, force=force)
    return session.done(receipt, "revised", "nothing to do: the atom already has this text and these fields")


@command(
    "engine get 1f0c",
    "engine get 'Maps of Content'",
    "engine get 1f0c --as-of 2026-11-01",
    "engine get 1f0c --raw",
)
@NAMED
@AS_OF
@option("--content", help="Print only the text; control and invisible characters are escaped.")
@option("--raw", help="Print only the text, byte for byte.")
def get(session: Session, atom: str, as_of: Moment | None, content: bool, raw: bool) -> int:
    """Show an atom (even if it is hidden or erased) or a page.

    A page consists of the atoms from one ingested file. A page is shown with its links and its backlinks.
    """
    with session.engine() as engine:
        page = page_of(engine, atom, as_of)
        if page is None:
            found = engine.get(engine.resolve(atom), as_of=as_of)
        else:
            ends = (link.id for link in (*page.links, *page.backlinks))
            named = labels(session, engine, [*page.ids, *ends])
    if page is not None:
        if (content or raw) and not session.out.json:
            return _print_text(session, page.text, raw=raw)
        return session.out.answer(plain(page), page_lines(page, named))
    if (content or raw) and not session.out.json:
        return _print_text(session, found.content, raw=raw)
    return session.out.answer(plain(found), _atom(found))


def _print_text(session: Session, text: str, *, raw: bool) -> int:
    session.out.exact(text if raw else shown(text))
    return 0


@command("engine tag 1f0c kitchen chores")
@ID
@TAGS
def tag(session: Session, atom: str, tags: tuple[str, ...]) -> int:
    """Add tags to an atom."""
    tell_tags(session, tags)
    return _apply(session, [atom], lambda found: Tag(found, tags), "tagged")


@command("engine untag 1f0c chores")
@ID
@TAGS
def untag(session: Session, atom: str, tags: tuple[str, ...]) -> int:
    """Remove tags from an atom."""
    tell_tags(session, tags)
    return _apply(session, [atom], lambda found: Untag(found, tags), "untagged")


@command("engine tombstone 1f0c --reason 'no longer true'")
@IDS
@REASON
def tombstone(session: Session, atoms: tuple[str, ...], reason: str) -> int:
    """Hide atoms from every query without deleting them.

    If one of the atoms cannot be hidden, no atom is hidden. `engine revive` brings the atoms back.
    """
    return _apply(session, atoms, lambda found: Tombstone(found, reason), "tombstoned")


@command("engine revive 1f0c")
@IDS
@REASON
@FORCE
def revive(session: Session, atoms: tuple[str, ...], reason: str, force: bool) -> int:
    """Bring tombstoned atoms back.

    If one of the atoms cannot be brought back, no atom is brought back.
    """
    return _apply(session, atoms, lambda found: Revive(found, reason, force), "revived")


def tell_tags(session: Session, tags: Sequence[str]) -> None:
    """Print a note for each tag that is stored in another form than given, such as `a-b` for `a b`."""
    for given in tags:
        stored = validation.tag(given)
        if stored != given.strip().removeprefix("#"):
            session.out.note(f"the tag {given!r} is stored as {stored!r}")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the caller gave."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def _apply(session: Session, atoms: Sequence[str], wanted: Callable[[str], Command], done: str) -> int:
    with session.engine() as engine:
        receipts = engine.apply([wanted(engine.resolve(atom)) for atom in atoms])
    changed = sum(receipt.changed for receipt in receipts)
    same = len(receipts) - changed
    session.out.note(f"{done}: {changed}" + (f"; unchanged: {same}" if same else ""))
    return session.out.answer(
        [receipt_data(receipt) for receipt in receipts], [receipt.subject for receipt in receipts]
    )


def _atom(atom: Atom) -> Iterator[Shown]:
    yield line("id", atom.id)
    for name in ("title", "source", "key", "sequence", "trust"):
        if (value := getattr(atom, name)) is not None:
            yield line(name, str(value))
    for alias in atom.aliases:
        yield line("alias", alias)
    if atom.folder is not None:
        yield line("folder", atom.folder)
    for name, value in atom.meta.items():
        yield line("meta", f"{name}={value if isinstance(value, str) else dumps(value)}")
    if atom.tags:
        yield line("tags", " ".join(f"#{tag}" for tag in atom.tags))
    erased = atom.state.name == "ERASED"
    if not erased:
        yield line("kind", f"{atom.kind} in {', '.join(atom.buckets)} ({atom.provenance})")
    yield line("created", shown_time(atom.created))
    yield line("version", f"{atom.version}, event {atom.payload_seq}")
    if atom.tombstone is not None:
        hidden = atom.tombstone
        reason = hidden.reason or "no reason given"
        yield line(atom.state.name.lower(), f"{shown_time(hidden.at)} by {hidden.by}: {reason}")
    if not erased:
        yield ""
        yield atom.content


def _given_text(text: str) -> str:
    """Return `text`, or for `-` the content of stdin without its final line end.

    Raises:
        LimitError: stdin holds more than `CONTENT_BYTES_MAX` bytes.
        InvalidInputError: stdin is not UTF-8.
    """
    if text != STDIN:
        return text
    raw = sys.stdin.buffer.read(CONTENT_BYTES_MAX + 3)
    if len(raw) > CONTENT_BYTES_MAX + 2:
        raise LimitError(
            f"stdin holds more than {CONTENT_BYTES_MAX} bytes", hint="`engine ingest FILE` splits long texts"
        )
    try:
        given = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"stdin is not valid UTF-8: invalid byte at offset {error.start}") from None
    return given[:-2] if given.endswith("\r\n") else given.removesuffix("\n")


@command("engine supersede 1f0c 9a2e --reason 'descaled on Fridays since June'")
@argument("old", "OLD", "The atom that is wrong.")
@argument("new", "NEW", "The atom that is right.")
@REASON
def supersede(session: Session, old: str, new: str, reason: str) -> int:
    """Mark an atom as replaced by another atom; the old atom is kept.

    OLD and its near-duplicates are no longer recalled, unless --superseded is given. OLD gets the tag
    `superseded`. `engine revert` undoes this.
    """
    with session.engine() as engine:
        given = engine.resolve(old), engine.resolve(new)
        receipt = engine.apply([Supersede(*given, reason)])[0]
        listed = [one.id for group in engine.duplicates(of=given[0]) for one in (group.keep, *group.others)]
        alike = [one for one in listed if engine.held_back(one) is not None]
        named = labels(session, engine, alike)
    code = session.done(receipt, "superseded", "nothing to do: NEW already supersedes OLD")
    for one in alike:
        if one not in given:
            session.out.note(
                f"{named.id(one)} is a near-duplicate of the old atom and is no longer recalled either"
            )
    return code


@command("engine merge 1f0c 9a2e", "engine merge 1f0c 9a2e --force")
@argument("keep", "KEEP", "The atom to keep.")
@argument("other", "OTHER", "The atom that is merged into it.")
@option("--force", help="Merge the atoms even if they are not near-duplicates.")
def merge(session: Session, keep: str, other: str, force: bool) -> int:
    """Merge an atom into its near-duplicate.

    KEEP gets the tags and buckets of OTHER. An edge `supersedes` is added from KEEP to OTHER. OTHER is
    hidden, not deleted. `engine unmerge` undoes all of this. Prints the id of KEEP.
    """
    with session.engine() as engine:
        receipt = engine.merge(engine.resolve(keep), engine.resolve(other), force=force)
    return session.done(receipt, "merged", "nothing to do: the atoms are already merged")


@command("engine unmerge 9a2e")
@ID
@FORCE
def unmerge(session: Session, atom: str, force: bool) -> int:
    """Undo a merge.

    The merged atom is live again. The kept atom loses the tags and buckets that it gained by the merge. A tag
    or bucket that was added again later stays.
    """
    with session.engine() as engine:
        receipt = engine.unmerge(engine.resolve(atom), force=force)
    return session.done(receipt, "unmerged", "nothing to do: the atom is live, so there is no merge to undo")


@command(
    "engine duplicates",
    "engine duplicates --of 1f0c",
    "engine duplicates --merge --dry-run",
    "engine duplicates --merge --yes",
)
@option("--of", metavar="ID", help="Show only the group that contains this atom.")
@limit(100)
@option("merging", "--merge", help="Merge the other atoms of each group into the first atom.")
@dry_run("Show what would be merged; change nothing.")
@option("--yes", help="Confirm --merge; without --yes, nothing is merged.")
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
    """List groups of near-duplicate atoms.

    In each group, the atom to keep comes first. Each other atom is listed with the number of bits in which
    its fingerprint differs from the fingerprint of the atom to keep, or with the words in which its text
    differs. --merge merges the atoms that differ in fewer than 3 bits. The others are only proposed; `engine
    merge --force` merges one.
    """
    if (yes or dry_run) and not merging:
        raise InvalidInputError("--yes and --dry-run have no effect without --merge", hint="add --merge")
    if merging and as_of is not None:
        raise InvalidInputError(
            "--merge cannot be combined with --as-of, because the past cannot be changed",
            hint="omit one of the two options",
        )
    failure, merged = None, dict[str, list[str]]()
    with (
        session.engine() as engine,
        nullcontext(engine) if as_of is None else engine.as_of(as_of) as memory,
    ):
        groups = memory.duplicates(limit=limit, of=None if of is None else memory.resolve(of))
        named = labels(session, memory, (one.id for group in groups for one in (group.keep, *group.others)))
        wanted = {group.keep.id: near for group in groups if (near := _near(group))}
        atoms = sum(1 + len(group.others) for group in groups)
        session.out.note(f"{counted(len(groups), 'group')}, {counted(atoms, 'atom')}")
        would = f"{counted(sum(map(len, wanted.values())), 'atom')} would be merged into {len(wanted)}"
        if merging and dry_run:
            session.out.note(would)
        elif merging and not yes and wanted:
            failure = Failure.of(RefusedError(f"nothing was merged: {would}", hint="add --yes to merge them"))
        elif merging:
            merged, failure = _merge(session, engine, wanted)
    data = [plain(group) | ({"merged": merged.get(group.keep.id, [])} if merging else {}) for group in groups]
    return session.out.answer(
        data, (item for group in groups for item in _group(group, named)), failure=failure
    )


def _near(group: DuplicateGroup) -> list[str]:
    """Return the ids of those atoms in a group that are similar enough to be merged into the atom to keep."""
    return [other.id for other in group.others if other.distance < NEAR_BITS]


def _merge(
    session: Session, engine: Engine, wanted: dict[str, list[str]]
) -> tuple[dict[str, list[str]], Failure | None]:
    """Merge the groups one by one; report a group that cannot be merged, and go on with the next."""
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
        hint="the reasons are printed above unless --quiet is given; `engine merge` merges a single pair",
    )
    return merged, Failure.of(problem)


def _group(group: DuplicateGroup, named: Labels) -> Iterator[Shown]:
    yield _duplicate(group.keep, "keep", named)
    for other in group.others:
        yield _duplicate(other, _likeness(other), named)
    yield ""


def _likeness(other: Duplicate) -> str:
    """Return how an atom of a group differs from the atom to keep."""
    if other.distance < NEAR_BITS or other.similarity is None:
        return counted(other.distance, "bit")
    return "; ".join([f"{other.similarity:.0%} of the words", *other.edits])


def _duplicate(atom: Duplicate, place: str, named: Labels) -> Fields:
    return Fields(
        (
            (named.id(atom.id), "cyan"),
            (place, "green"),
            (atom.title or "", "bold"),
            (atom.snippet, ""),
            (atom.source or "", "dim"),
            (" ".join(f"#{tag}" for tag in atom.tags), "magenta"),
        )
    )
