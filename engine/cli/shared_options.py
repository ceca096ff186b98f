"""Arguments and options that several commands share, each declared once, and the filter options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import click

from engine.base.errors import InvalidInputError
from engine.base.times import Moment, microseconds, parse_moment, parse_time
from engine.cli.command_declaration import NUMBER, WHOLE, Function, argument, at_least, option, repeated


def _moment(ctx: click.Context, param: click.Parameter, text: str | None) -> Moment | None:
    del ctx
    return None if text is None else parse_moment(text, param.opts[0])


def _meta(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, Any] | None:
    """Parse the entries `--meta KEY=VALUE` of an atom. Without an entry, return None."""
    from engine.query.filter_text import parse_meta

    del ctx
    return parse_meta(given, param.opts[0]) or None


def _meta_filter(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, Any]:
    """Parse the conditions `--meta KEY=VALUE` of a filter."""
    from engine.query.filter_text import parse_conditions

    del ctx
    return parse_conditions(given, param.opts[0])


def time_in_microseconds(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
    """Return the time that an option gives, in µs since 1970, UTC; None without the option."""
    del ctx
    return None if text is None else microseconds(parse_time(text, param.opts[0]))


def one_of(known: Iterable[str], given: str, what: str) -> None:
    """Check that a word is in `known`; `what` is the kind of word in the error message, such as "format".

    Raises:
        InvalidInputError: the word is not in `known`.
    """
    if given not in known:
        raise InvalidInputError(f"unknown {what} {ascii(given)[:80]}", hint=f"one of: {', '.join(known)}")


# Arguments

ID = argument("atom", "ID", "The id of an atom, or at least its first 4 digits.")
NAMED = argument(
    "atom",
    "ID",
    "The id of an atom, or at least its first 4 digits; or the path, the title or an alias of a page.",
)
IDS = argument("atoms", "ID", "The ids of atoms, or at least the first 4 digits of each.", many=True)
QUESTION = argument("query", "QUESTION", "The question.", many=True)

# Options of several commands

AS_OF = option(
    "--as-of",
    metavar="SEQ|TIME",
    callback=_moment,
    help="The state after event SEQ, or at TIME (ISO 8601; UTC if no zone).",
)
REASON = option(
    "--reason", metavar="TEXT", default="", show_default=False, help="The reason, recorded in the history."
)
FORCE = option("--force", help="Accept content that was erased before.")
EVIDENCE = option(
    "--evidence",
    metavar="DIR",
    help="The folder in which to save both checkpoints if the exit code is 9. [default: the folder of FILE]",
)
CHECKPOINTS = repeated(
    "checkpoints", "--checkpoint", metavar="FILE", help="A checkpoint that the log must continue. Repeatable."
)
EXPECT = option("--expect", metavar="HEX", help="The expected root, 64 hex digits.")
WEIGHT = option("--weight", metavar="X", type=NUMBER, default=1.0, help="The strength of the connection.")


def limit(
    default: int | None, text: str = "The maximum number of results."
) -> Callable[[Function], Function]:
    """Declare --limit."""
    return option("--limit", "-n", metavar="N", type=at_least(1), default=default, help=text)


def direction(default: str) -> Callable[[Function], Function]:
    """Declare --direction, which selects the edges that start at an atom, that end at it, or both."""
    return option(
        "--direction",
        metavar="WAY",
        default=default,
        help="Edges that start at the atom (out), end at it (in), or both.",
    )


secrets_mode = option(
    "mode",
    "--secrets",
    metavar="MODE",
    help="Treatment of passwords and keys in texts: redact, refuse, warn or off. "
    "[default: the mode of the settings, or redact]",
)
"""The option `--secrets` of the servers."""


def dry_run(help: str = "Show what would be done; change nothing.") -> Callable[[Function], Function]:  # noqa: A002
    """Declare --dry-run."""
    return option("--dry-run", help=help)


def together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Combine several options into one decorator; help lists the options in the given order."""

    def given(function: Function) -> Function:
        for one in reversed(options):
            function = one(function)
        return function

    return given


# Fields of an atom

ATOM_FIELDS = together(
    option("--title", metavar="TEXT", help="The title, one line."),
    option("--kind", metavar="NAME", help="The kind of atom."),
    repeated("tags", "--tag", "-t", metavar="TAG", help="A tag for the atom. Repeatable."),
    repeated("buckets", "--bucket", help="A bucket for the atom. Repeatable."),
    option("--source", metavar="NAME", help="The origin of the text, such as a file name or URL."),
    option("--sequence", metavar="N", type=WHOLE, help="The position of the atom within its source."),
    option("--provenance", metavar="NAME", help="The provenance: internal, external or quarantine."),
    option("--trust", metavar="N", type=WHOLE, help="The trust in the text, from 0 to 100."),
    option("--created", metavar="TIME", callback=time_in_microseconds, help="When the text was written."),
    repeated(
        "meta",
        "--meta",
        metavar="KEY=VALUE",
        callback=_meta,
        help="A value to store with the atom; VALUE is JSON or text. Repeatable.",
    ),
    repeated("aliases", "--alias", help="Another name for the atom. Repeatable."),
)
"""The options of `add` and `revise` that set fields of an atom."""

BUCKETS = repeated("buckets", "--bucket", help="A bucket for new atoms. Repeatable. [default: inbox]")

# Ingested folders

SOURCE_NAME = option(
    "--name", metavar="NAME", help="The first part of every source. [default: the folder's name]"
)
FOLDER_OPTIONS = together(
    repeated("tags", "--tag", "-t", metavar="TAG", help="A tag for every atom. Repeatable."),
    BUCKETS,
    option(
        "--provenance",
        metavar="NAME",
        default="internal",
        help="The provenance of new atoms: internal, external or quarantine.",
    ),
    repeated(
        "exclude",
        "--exclude",
        metavar="GLOB",
        help="Leave out what matches, in the syntax of .gitignore. Repeatable.",
    ),
    option("--no-gitignore", help="Also read what a .gitignore in the folder excludes."),
    option("--moved", help="Accept that the folder was moved since the last ingest."),
)
"""The options of `ingest` and `watch` on the files that are read, and on the atoms that are added."""

# Filters

_FILTERS = {
    "tags": repeated(
        "tags", "--tag", "-t", metavar="TAG", help="Only atoms with this tag; repeat to require several tags."
    ),
    "without_tags": repeated(
        "without_tags", "--without-tag", metavar="TAG", help="Only atoms without this tag. Repeatable."
    ),
    "buckets": repeated(
        "buckets", "--bucket", help="Only atoms in this bucket; repeat to allow several buckets."
    ),
    "sources": repeated(
        "sources",
        "--source",
        help="Only atoms from this source; NAME* matches sources that begin with NAME. Repeatable.",
    ),
    "kinds": repeated("kinds", "--kind", help="Only atoms of this kind; repeat to allow several kinds."),
    "provenances": repeated(
        "provenances",
        "--provenance",
        help="Only atoms with this provenance: internal, external or quarantine. Repeatable.",
    ),
    "since": option(
        "--since",
        metavar="TIME",
        callback=time_in_microseconds,
        help="Only atoms created at TIME or later (ISO 8601; UTC if no zone).",
    ),
    "until": option(
        "--until", metavar="TIME", callback=time_in_microseconds, help="Only atoms created before TIME."
    ),
    "categories": repeated(
        "categories",
        "--category",
        help="Only atoms of this category, such as causal; repeat to allow several categories.",
    ),
    "superseded": option("--superseded", help="Include superseded atoms."),
    "meta": repeated(
        "meta",
        "--meta",
        metavar="KEY=VALUE",
        callback=_meta_filter,
        help="Only atoms with this value in their meta; repeat a key to allow several values.",
    ),
}
"""Field of `Filters` → the option that sets the field."""


def filter_options(*left_out: str) -> Callable[[Function], Function]:
    """Declare the filter options; the command receives their values as one argument, `filters`.

    Args:
        left_out: The fields of `Filters` for which the command has no option.
    """
    fields = [field for field in _FILTERS if field not in left_out]

    def given(function: Function) -> Any:
        @wraps(function)
        def filtered(*args: Any, **values: Any) -> Any:
            from engine.query.filters import Filters

            filters = Filters(**{field: values.pop(field) for field in fields})
            return function(*args, filters=filters, **values)

        return together(*(_FILTERS[field] for field in fields))(filtered)

    return given
