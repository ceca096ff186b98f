"""Arguments and options that several commands share, and the filters they add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from engine.query.filters import Filters

Id = Annotated[
    str,
    typer.Argument(metavar="ID", help="An atom's id, or its first digits: 4 or more.", show_default=False),
]
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="Atom ids, or their first digits: 4 or more.", show_default=False),
]
Tags = Annotated[
    list[str], typer.Argument(metavar="TAG", help="Tags, with or without #.", show_default=False)
]
Question = Annotated[
    list[str], typer.Argument(metavar="QUESTION", help="What you want to know.", show_default=False)
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why, for the history.", show_default=False)
]
Insist = Annotated[bool, typer.Option("--force", help="Also where its content was erased.")]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="SEQ|TIME",
        help="As it was after event SEQ, or at TIME (ISO 8601; UTC if no zone).",
    ),
]
Evidence = Annotated[
    str | None,
    typer.Option(
        "--evidence", metavar="DIR", help="Where both sides go on exit code 9. [default: beside FILE]"
    ),
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many results.")]

Text = Annotated[str, typer.Argument(metavar="TEXT", help="What it says; - reads stdin.", show_default=False)]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="A heading, on one line.")]
Kind = Annotated[str | None, typer.Option("--kind", metavar="NAME", help="What sort of atom.")]
AtomTags = Annotated[list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="A tag. Repeatable.")]
Buckets = Annotated[list[str] | None, typer.Option("--bucket", metavar="NAME", help="A bucket. Repeatable.")]
Source = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Where the text came from.")]
Sequence = Annotated[int | None, typer.Option("--sequence", metavar="N", help="Its place within its source.")]
Provenance = Annotated[
    str | None,
    typer.Option("--provenance", metavar="NAME", help="internal, external or quarantine."),
]
Trust = Annotated[int | None, typer.Option("--trust", metavar="N", help="From 0 to 100.")]
Created = Annotated[str | None, typer.Option("--created", metavar="TIME", help="When the text was written.")]

WithTags = Annotated[
    list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="Has this tag; again: and this one.")
]
WithoutTags = Annotated[
    list[str] | None, typer.Option("--without-tag", metavar="TAG", help="Lacks this tag. Repeatable.")
]
InBuckets = Annotated[
    list[str] | None,
    typer.Option("--bucket", metavar="NAME", help="Is in this bucket; again: or in this one."),
]
FromSources = Annotated[
    list[str] | None,
    typer.Option(
        "--source", metavar="NAME", help="Is from this source; NAME* for all that begin so. Repeatable."
    ),
]
OfKinds = Annotated[
    list[str] | None, typer.Option("--kind", metavar="NAME", help="Is of this kind; again: or of this one.")
]
OfProvenances = Annotated[
    list[str] | None,
    typer.Option("--provenance", metavar="NAME", help="internal, external or quarantine. Repeatable."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Created at TIME or later (ISO 8601; UTC if no zone)."),
]
InCategories = Annotated[
    list[str] | None,
    typer.Option(
        "--category", metavar="NAME", help="Is in this category, such as causal; again: or in this one."
    ),
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Created before TIME.")]


Superseded = Annotated[bool, typer.Option("--superseded", help="Also atoms that others took the place of.")]


def filters_of(
    tags: list[str] | None,
    without_tags: list[str] | None,
    buckets: list[str] | None,
    sources: list[str] | None,
    kinds: list[str] | None,
    provenances: list[str] | None,
    since: str | None,
    until: str | None,
    categories: list[str] | None = None,
    *,
    superseded: bool = False,
) -> Filters:
    """The filters that these options ask for."""
    from engine.cli.values import time_in_microseconds
    from engine.query.filters import Filters

    return Filters(
        tags=tuple(tags or ()),
        without_tags=tuple(without_tags or ()),
        buckets=tuple(buckets or ()),
        sources=tuple(sources or ()),
        kinds=tuple(kinds or ()),
        provenances=tuple(provenances or ()),
        since=time_in_microseconds(since, "--since"),
        until=time_in_microseconds(until, "--until"),
        categories=tuple(categories or ()),
        superseded=superseded,
    )
