"""Commands on one atom's content: add, get, revise."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.base.errors import InvalidInputError
from engine.cli.options import (
    AsOf,
    AtomTags,
    Buckets,
    Created,
    Id,
    Insist,
    Kind,
    Provenance,
    Sequence,
    Source,
    Text,
    Title,
    Trust,
)
from engine.cli.output import Shown
from engine.cli.pages import command, new_app, running
from engine.cli.stores import line
from engine.cli.values import given_text, meta_entry, moment, plain, shown_time, time_in_microseconds

if TYPE_CHECKING:
    from engine.base.model import Atom

app = new_app()


@command(
    app,
    "engine add 'The kettle is descaled on Mondays.' --tag kitchen",
    "pbpaste | engine add - --source clipboard",
)
def add(
    ctx: typer.Context,
    text: Text,
    title: Title = None,
    kind: Kind = None,
    tag: AtomTags = None,
    bucket: Buckets = None,
    source: Source = None,
    sequence: Sequence = None,
    provenance: Provenance = None,
    trust: Trust = None,
    created: Created = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="NAME", help="Your own name for it within its source.")
    ] = None,
    atom_id: Annotated[str | None, typer.Option("--id", metavar="UUID", help="An id of your own.")] = None,
    occurrence: Annotated[
        int | None,
        typer.Option("--occurrence", metavar="N", help="How many equal texts come earlier in its source."),
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            "--meta", metavar="KEY=VALUE", help="What you keep with it; VALUE is JSON, or a text. Repeatable."
        ),
    ] = None,
    alias: Annotated[
        list[str] | None, typer.Option("--alias", metavar="NAME", help="Another name of it. Repeatable.")
    ] = None,
    force: Insist = False,
) -> int:
    """Add one atom.

    Prints its id. Adding the same text from the same source again changes nothing. Unless said
    otherwise: kind note, bucket inbox, provenance internal, created now. Makes the store if there
    is none.
    """
    from engine.commands import Add

    session = running(ctx)
    fields = _given(
        title=title,
        kind=kind,
        tags=tag,
        buckets=bucket,
        source=source,
        sequence=sequence,
        provenance=provenance,
        trust=trust,
        created=time_in_microseconds(created, "--created"),
        key=key,
        id=atom_id,
        occurrence=occurrence,
        meta=None if meta is None else dict(map(meta_entry, meta)),
        aliases=alias,
        force=force or None,
    )
    wanted = Add(given_text(text), **fields)
    wanted.body()  # what breaks a rule must not leave an empty store behind
    with session.engine(create=True) as engine:
        receipt = engine.apply([wanted])[0]
    session.out.note(
        "added" if receipt.changed else f"nothing to do: it is there, {receipt.state.name.lower()}"
    )
    return session.out.answer(_receipt(receipt), [((receipt.subject, ""),)])


@command(app, "engine revise 1f0c 'The kettle is descaled on Fridays.'", "engine revise 1f0c --title Kettle")
def revise(
    ctx: typer.Context,
    atom: Id,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The new text; - reads stdin.")] = None,
    title: Title = None,
    kind: Kind = None,
    tag: AtomTags = None,
    bucket: Buckets = None,
    source: Source = None,
    sequence: Sequence = None,
    provenance: Provenance = None,
    trust: Trust = None,
    created: Created = None,
    force: Insist = False,
) -> int:
    """Change what an atom says; its history is kept.

    What is not given stays as it is. Tags and buckets that are given replace all it has; an empty
    --title or --source removes it.
    """
    session = running(ctx)
    fields = _given(
        content=None if text is None else given_text(text),
        title=title,
        kind=kind,
        tags=tag,
        buckets=bucket,
        source=source,
        sequence=sequence,
        provenance=provenance,
        trust=trust,
        created=time_in_microseconds(created, "--created"),
    )
    if not fields:
        raise InvalidInputError(
            "nothing to change was given", hint="give a new TEXT, or an option such as --title"
        )
    fields["force"] = force
    for name in ("title", "source"):
        if fields.get(name) == "":
            fields[name] = None
    with session.engine() as engine:
        receipt = engine.revise(engine.resolve(atom), **fields)
    session.out.note("revised" if receipt.changed else "nothing to do: it says so already")
    return session.out.answer(_receipt(receipt), [((receipt.subject, ""),)])


@command(app, "engine get 1f0c", "engine get 1f0c --as-of 2026-11-01", "engine get 1f0c --content")
def get(
    ctx: typer.Context,
    atom: Id,
    as_of: AsOf = None,
    content: Annotated[bool, typer.Option("--content", help="Print the text alone, byte for byte.")] = False,
) -> int:
    """Show one atom, in whatever state it is."""
    session = running(ctx)
    with session.engine() as engine:
        found = engine.get(engine.resolve(atom), as_of=moment(as_of))
    if content and not session.out.json:
        session.out.exact(found.content)
        return 0
    return session.out.answer(plain(found), _atom(found))


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _receipt(receipt: Any) -> Any:
    return {**plain(receipt), "changed": receipt.changed}


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
        yield line(
            atom.state.name.lower(),
            f"{shown_time(hidden.at)} by {hidden.by}: {hidden.reason or 'no reason given'}",
        )
    if not erased:
        yield ""
        yield atom.content
