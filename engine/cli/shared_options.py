"""The arguments and options that several commands share, each explained once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, TypedDict

from engine.base.docstrings import described
from engine.base.errors import InvalidInputError
from engine.base.times import Moment, microseconds, parse_moment, parse_time


def _meta(given: tuple[str, ...], name: str) -> dict[str, Any] | None:
    """Return the entries `--meta KEY=VALUE` of an atom; None without an entry."""
    from engine.query.filter_text import parse_meta

    return parse_meta(given, name) or None


def _conditions(given: tuple[str, ...], name: str) -> dict[str, Any]:
    """Return the conditions `--meta KEY=VALUE` of a filter."""
    from engine.query.filter_text import parse_conditions

    return parse_conditions(given, name)


AsOf = Annotated[Moment, "SEQ|TIME", parse_moment]
Time = Annotated[int, "TIME", lambda text, name: microseconds(parse_time(text, name))]
"""A time in µs since 1970, UTC."""


def one_of(known: Iterable[str], given: str, what: str) -> None:
    """Check that a word is in `known`; `what` is the kind of word in the error message, such as "format".

    Raises:
        InvalidInputError: the word is not in `known`.
    """
    if given not in known:
        raise InvalidInputError(f"unknown {what} {ascii(given)[:80]}", hint=f"one of: {', '.join(known)}")


SHARED: Final = described("""The parameters of several commands that are explained in the same words.

Args:
    atom: `ID` The id of an atom, or at least its first 4 digits.
    atoms: `ID` The ids of atoms, perhaps shortened.
    query: `QUESTION` The question.
    as_of: The state after event SEQ, or at TIME (ISO 8601; UTC if no zone).
    reason: `TEXT` The reason, recorded in the history.
    force: Accept content that was erased before.
    evidence: `DIR` Where to save both checkpoints if the exit code is 9. [default: the folder
        of FILE]
    checkpoints: `--checkpoint FILE` A checkpoint that the log must continue. Repeatable.
    expect: `HEX` The expected root, 64 hex digits.
    weight: `X` The strength of the connection.
    mentions: `NAME` Atoms that mention NAME, in their words or by an edge to the entity. Repeatable.
    limit: `-n` The maximum number of results.
    direction: `WAY` Edges that start at the atom (out), end at it (in), or both.
    dry_run: Show what would be done; change nothing.
    mode: `--secrets MODE` How to treat passwords and keys in texts: redact, refuse, warn or off. [default: as
        in the settings, or redact]
    claim: The claim, in a form that `engine prove --help` lists.
    claims: `LIST` A file with one claim on each line.
    spent: The tokens spent so far, which are added to the total. [default: 0]
    superseded: Include superseded atoms.
    given: `VALUE` The value of the first option.
    offset: Where to continue: `next` of an earlier answer.
""").arguments
"""Parameter → its help. A command whose docstring explains the parameter overrides it."""


class AtomFields(TypedDict):
    """The fields of an atom, options of `add` and `revise`.

    Args:
        title: `TEXT` The title, one line.
        kind: The kind of atom.
        tags: `--tag -t TAG` A tag for the atom. Repeatable.
        buckets: `--bucket` A bucket for the atom. Repeatable.
        source: The origin of the text, such as a file name or URL.
        sequence: The position of the atom within its source.
        provenance: The provenance: internal, external or quarantine.
        trust: The trust in the text, from 0 to 100.
        created: When the text was written.
        meta: A value to store with the atom; VALUE is JSON or text. Repeatable.
        aliases: `--alias` Another name for the atom. Repeatable.
    """

    title: str | None
    kind: str | None
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    source: str | None
    sequence: int | None
    provenance: str | None
    trust: int | None
    created: Time | None
    meta: Annotated[dict[str, Any], "KEY=VALUE", _meta]
    aliases: tuple[str, ...]


class FolderOptions(TypedDict):
    """The options of `ingest` and `watch` on the files that are read, and on the atoms that are added.

    Args:
        name: The first part of every source. [default: the folder's name]
        tags: `--tag -t TAG` A tag for every atom. Repeatable.
        buckets: `--bucket` A bucket for new atoms. Repeatable. [default: inbox]
        provenance: The provenance of new atoms: internal, external or quarantine. [default: internal]
        exclude: `GLOB` Leave out what matches, in the syntax of .gitignore. Repeatable.
        no_gitignore: Also read what a .gitignore in the folder excludes.
        moved: Accept that the folder was moved since the last ingest.
    """

    name: str | None
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    provenance: str | None
    exclude: tuple[str, ...]
    no_gitignore: bool
    moved: bool


def ingest_options(given: FolderOptions) -> dict[str, Any]:
    """Return the arguments of `Engine.ingest` for the options of a folder."""
    options: dict[str, Any] = dict(given)
    options["gitignore"] = not options.pop("no_gitignore")
    return options | {
        "buckets": given["buckets"] or ("inbox",),
        "provenance": given["provenance"] or "internal",
    }


class FilterOptions(TypedDict):
    """The fields of `Filters` as options.

    Args:
        tags: `--tag -t TAG` Only atoms with this tag; repeat to require several tags.
        without_tags: `--without-tag TAG` Only atoms without this tag. Repeatable.
        buckets: `--bucket` Only atoms in this bucket; repeat to allow several buckets.
        sources: `--source` Only atoms from this source; NAME* matches sources that begin with NAME.
            Repeatable.
        kinds: `--kind` Only atoms of this kind; repeat to allow several kinds.
        provenances: `--provenance` Only atoms with this provenance: internal, external or quarantine.
            Repeatable.
        since: Only atoms created at TIME or later (ISO 8601; UTC if no zone).
        until: Only atoms created before TIME.
        categories: `--category` Only atoms of this category, such as causal; repeat to allow several
            categories.
        meta: Only atoms with this value in their meta; repeat a key to allow several values.
    """

    tags: tuple[str, ...]
    without_tags: tuple[str, ...]
    buckets: tuple[str, ...]
    sources: tuple[str, ...]
    kinds: tuple[str, ...]
    provenances: tuple[str, ...]
    since: Time | None
    until: Time | None
    categories: tuple[str, ...]
    meta: Annotated[dict[str, Any], "KEY=VALUE", _conditions]
