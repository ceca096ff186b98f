"""Commands that add, change, hide, merge and supersede atoms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any, Unpack

from engine.base.errors import InvalidInputError, LimitError
from engine.base.json_text import encode
from engine.base.limits import CONTENT_BYTES_MAX
from engine.base.model import Atom
from engine.base.times import shown_time
from engine.cli.cli_output import STDIN, receipt_data
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shared_options import AsOf, AtomFields
from engine.cli.shown_labels import labels, page_lines, page_of
from engine.cli.shown_parts import Shown, line, shown
from engine.commands import Add, Command, Revive, Tag, Tombstone, Untag


@command(
    "engine add 'The kettle is descaled on Mondays.' --tag kitchen",
    "pbpaste | engine add - --source clipboard",
)
def add(
    session: Session,
    text: str,
    *,
    key: str | None = None,
    id: str | None = None,  # noqa: A002
    occurrence: int | None = None,
    force: bool = False,
    again: bool = False,
    **fields: Unpack[AtomFields],
) -> int:
    """Add one atom.

    Prints its id. If the memory already contains an equal or nearly equal text, nothing is added, and the id
    of the atom with that text is printed. Defaults: kind note, bucket inbox, provenance internal, created
    now. Creates the store if it does not exist.

    Args:
        text: The text, or - to read it from stdin.
        key: A key that you choose for the atom, unique within the source.
        id: `UUID` The id to use instead of the computed id.
        occurrence: The number of earlier identical texts in the source, which identifies the text if
            there is no key.
        again: Add the text even if another atom holds it already, or holds nearly the same text. The same
            text from the same source stays one atom, unless --occurrence, --sequence or --key differs.
    """
    given = _given({**fields, "key": key, "id": id, "occurrence": occurrence})
    wanted = Add(_given_text(text), **given, force=force)
    wanted.body()  # Validate before the store is created: invalid input must not leave an empty store behind.
    with session.engine(create=True) as engine:
        receipt = engine.apply([wanted])[0] if again else engine.add_once(wanted)
    added = "added"
    same = f"nothing to do: the atom already exists ({receipt.state.name.lower()})"
    if receipt.held is not None:
        same = (
            f"nothing was added: the memory holds {'this' if receipt.held.equal else 'nearly this'} text "
            "already; revise that atom, or add the text with --again"
        )
        added = same.replace("nothing was", "only the tags were", 1)
    return session.done(receipt, added, same)


@command("engine revise 1f0c 'The kettle is descaled on Fridays.'", "engine revise 1f0c --title Kettle")
def revise(
    session: Session,
    atom: str,
    text: str | None = None,
    *,
    force: bool = False,
    **options: Unpack[AtomFields],
) -> int:
    """Change an atom's text or fields; its history is kept.

    Fields that are not given do not change. --tag and --bucket replace all tags and buckets; an empty
    --title or --source removes that field.

    Args:
        text: The new text, or - to read it from stdin.
    """
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
def get(
    session: Session, atom: str, *, as_of: AsOf | None = None, content: bool = False, raw: bool = False
) -> int:
    """Show an atom (even if it is hidden or erased) or a page.

    A page consists of the atoms from one ingested file. A page is shown with its links and its backlinks.

    Args:
        atom: `ID` The id of an atom, or at least its first 4 digits; or the path, the title or an alias of a
            page.
        content: Print only the text; control and invisible characters are escaped.
        raw: Print only the text, byte for byte.
    """
    with session.engine() as engine:
        page = page_of(engine, atom, as_of)
        if page is None:
            record = engine.get(engine.resolve(atom), as_of=as_of)
        else:
            ends = (link.id for link in (*page.links, *page.backlinks))
            named = labels(session, engine, [*page.ids, *ends])
    if page is not None:
        if (content or raw) and not session.out.json:
            return _print_text(session, page.text, raw=raw)
        return session.out.answer(encode(page), page_lines(page, named))
    if (content or raw) and not session.out.json:
        return _print_text(session, record.content, raw=raw)
    return session.out.answer(encode(record), _atom(record))


def _print_text(session: Session, text: str, *, raw: bool) -> int:
    session.out.exact(text if raw else shown(text))
    return 0


@command("engine tag 1f0c kitchen chores")
def tag(session: Session, atom: str, tags: tuple[str, ...]) -> int:
    """Add tags to an atom.

    Args:
        tags: `TAG` Tags, with or without #.
    """
    return _apply(session, [atom], lambda found: Tag(found, tags), "tagged")


@command("engine untag 1f0c chores")
def untag(session: Session, atom: str, tags: tuple[str, ...]) -> int:
    """Remove tags from an atom.

    Args:
        tags: `TAG` Tags, with or without #.
    """
    return _apply(session, [atom], lambda found: Untag(found, tags), "untagged")


@command("engine tombstone 1f0c --reason 'no longer true'")
def tombstone(session: Session, atoms: tuple[str, ...], *, reason: str = "") -> int:
    """Hide atoms from every query without deleting them.

    If one of the atoms cannot be hidden, no atom is hidden. `engine revive` brings the atoms back.
    """
    return _apply(session, atoms, lambda found: Tombstone(found, reason), "tombstoned")


@command("engine revive 1f0c")
def revive(session: Session, atoms: tuple[str, ...], *, reason: str = "", force: bool = False) -> int:
    """Bring tombstoned atoms back.

    If one of the atoms cannot be brought back, no atom is brought back.
    """
    return _apply(session, atoms, lambda found: Revive(found, reason, force), "revived")


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
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
