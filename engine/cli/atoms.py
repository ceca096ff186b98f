"""Commands on atoms: add, get, revise, tag, untag, tombstone, revive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from json import dumps
from typing import Any

from engine.base.errors import InvalidInputError
from engine.base.model import Atom
from engine.cli.command import argument, command, option
from engine.cli.options import AS_OF, ATOM_FIELDS, FORCE, ID, IDS, REASON
from engine.cli.output import Shown, line
from engine.cli.session import Session
from engine.cli.values import given_text, plain, receipt_data
from engine.commands import Add, Command, Revive, Tag, Tombstone, Untag
from engine.front.times import Moment, shown_time

TAGS = argument("tags", "TAG", "Tags, with or without #.", many=True)


@command(
    "engine add 'The kettle is descaled on Mondays.' --tag kitchen",
    "pbpaste | engine add - --source clipboard",
)
@argument("text", "TEXT", "The text; - reads stdin.")
@ATOM_FIELDS
@option("--key", metavar="NAME", help="Your own key for it within its source.")
@option("--id", metavar="UUID", help="An id of your choice.")
@option("--occurrence", metavar="N", type=int, help="How many identical texts come before it in its source.")
@FORCE
def add(session: Session, text: str, force: bool, **fields: Any) -> int:
    """Add one atom.

    Prints its id. Adding the same text from the same source again changes nothing. Unless said
    otherwise: kind note, bucket inbox, provenance internal, created now. Makes the store if there
    is none.
    """
    wanted = Add(given_text(text), **_given(fields), force=force)
    wanted.body()  # what breaks a rule must not leave an empty store behind
    with session.engine(create=True) as engine:
        receipt = engine.apply([wanted])[0]
    return session.done(receipt, "added", f"nothing to do: it is there, {receipt.state.name.lower()}")


@command("engine revise 1f0c 'The kettle is descaled on Fridays.'", "engine revise 1f0c --title Kettle")
@ID
@argument("text", "TEXT", "The new text; - reads stdin.", required=False)
@ATOM_FIELDS
@FORCE
def revise(session: Session, atom: str, text: str | None, force: bool, **options: Any) -> int:
    """Change what an atom says; its history is kept.

    What is not given stays as it is. Tags and buckets that are given replace all it has; an empty
    --title or --source removes it.
    """
    fields = _given(options)
    if text is not None:
        fields["content"] = given_text(text)
    if not fields:
        raise InvalidInputError(
            "nothing to change was given", hint="give a new TEXT, or an option such as --title"
        )
    for name in ("title", "source"):
        if fields.get(name) == "":
            fields[name] = None
    with session.engine() as engine:
        receipt = engine.revise(engine.resolve(atom), **fields, force=force)
    return session.done(receipt, "revised", "nothing to do: it says so already")


@command("engine get 1f0c", "engine get 1f0c --as-of 2026-11-01", "engine get 1f0c --content")
@ID
@AS_OF
@option("--content", help="Print the text alone, byte for byte.")
def get(session: Session, atom: str, as_of: Moment | None, content: bool) -> int:
    """Show one atom, in whatever state it is."""
    with session.engine() as engine:
        found = engine.get(engine.resolve(atom), as_of=as_of)
    if content and not session.out.json:
        session.out.exact(found.content)
        return 0
    return session.out.answer(plain(found), _atom(found))


@command("engine tag 1f0c kitchen chores")
@ID
@TAGS
def tag(session: Session, atom: str, tags: tuple[str, ...]) -> int:
    """Put tags on an atom."""
    return _apply(session, [atom], lambda found: Tag(found, tags), "tagged")


@command("engine untag 1f0c chores")
@ID
@TAGS
def untag(session: Session, atom: str, tags: tuple[str, ...]) -> int:
    """Take tags off an atom."""
    return _apply(session, [atom], lambda found: Untag(found, tags), "untagged")


@command("engine tombstone 1f0c --reason 'no longer true'")
@IDS
@REASON
def tombstone(session: Session, atoms: tuple[str, ...], reason: str) -> int:
    """Hide atoms everywhere; they are kept.

    All of them or none. `engine revive` brings them back.
    """
    return _apply(session, atoms, lambda found: Tombstone(found, reason), "tombstoned")


@command("engine revive 1f0c")
@IDS
@REASON
@FORCE
def revive(session: Session, atoms: tuple[str, ...], reason: str, force: bool) -> int:
    """Bring tombstoned atoms back.

    All of them or none.
    """
    return _apply(session, atoms, lambda found: Revive(found, reason, force), "revived")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def _apply(session: Session, atoms: Sequence[str], wanted: Callable[[str], Command], done: str) -> int:
    with session.engine() as engine:
        receipts = engine.apply([wanted(engine.resolve(atom)) for atom in atoms])
    changed = sum(receipt.changed for receipt in receipts)
    same = len(receipts) - changed
    session.out.note(f"{done}: {changed}" + (f"; already so: {same}" if same else ""))
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
