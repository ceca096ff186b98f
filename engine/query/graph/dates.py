"""The dates that a text mentions, as names that several texts can share."""

from __future__ import annotations

from collections.abc import Iterator

from engine.text.language.calendar import Dated, Unit, resolve
from engine.text.language.times import find_times

CHARS_MAX = 4096
"""Only this many characters at the beginning of a text are searched."""


def dates_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield each day, month and year that a text names with its year.

    Each date is yielded as `2016-03-03`, `2016-03` or `2016`, and as the text writes it. Relative times and
    dates without a year are left out, because texts of different times can mean different dates by them.
    """
    read = text[:CHARS_MAX]
    for mention in find_times(read):
        when = mention.when
        if not isinstance(when, Dated) or when.length != 1 or resolve(when, None) is None:
            continue
        parts = [f"{when.year:04}", f"{when.month:02}", f"{when.day:02}"]
        shown = {Unit.YEAR: 1, Unit.MONTH: 2, Unit.DAY: 3}.get(when.unit)
        if shown is not None:
            yield "-".join(parts[:shown]), " ".join(read[mention.start : mention.end].split())
