"""Output and progress bars on a terminal; imported only if there is a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import time
import unicodedata

import click

from engine.cli.shown_parts import Fields, Line, Shown, Table, shown

SECONDS_BETWEEN_UPDATES = 0.05
BAR_CELLS = 40
"""The width of a complete progress bar."""

_CLEAR = "\r\x1b[K"


def show(item: Shown) -> None:
    """Print one item of a result to stdout, without styles if NO_COLOR is set or the terminal has none."""
    if isinstance(item, str):
        click.echo(shown(item), color=True)
    elif isinstance(item, Table):
        rows = [item.headers, *(tuple(shown(cell, line=True) for cell in row) for row in item.rows)]
        widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
        for number, row in enumerate(rows):
            padded = [cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)]
            click.echo(_styled((("  ".join(padded).rstrip(), "" if number else "bold"),)), color=True)
    elif isinstance(item, Fields):
        click.echo(_styled(item.spans, between="  "), color=True)
    else:
        click.echo(_styled(item), color=True)


def cells(text: str) -> int:
    """Return the number of columns that a text on one line takes up on a terminal."""
    wide = sum(unicodedata.east_asian_width(one) in {"W", "F"} for one in text)
    return len(text) + wide - sum(unicodedata.category(one) in {"Mn", "Me", "Cf"} for one in text)


def _styled(spans: Line, between: str = "") -> str:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in {"dumb", "unknown"}
    parts = []
    for text, style in spans:
        if text:
            given = {style: True} if style in {"bold", "dim"} else {"fg": style or None}
            safe = shown(text, line=True)
            parts.append(safe if plain or not style else click.style(safe, **given))
    return between.join(parts)


class Bar:
    """A progress bar on stderr, shown from the first `move` until `close`."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._moved = 0.0

    def move(self, done: int, total: int, what: str) -> None:
        """Set the progress to `done` of `total`, and the text to `what`.

        The bar is redrawn only a few times per second.
        """
        now = time.monotonic()
        if done < total and now - self._moved < SECONDS_BETWEEN_UPDATES:
            return
        self._moved = now
        full = BAR_CELLS * min(done, total) // max(total, 1)
        rate = f" {done / (now - self._begun):,.0f}/s" if now > self._begun else ""
        line = f"{shown(what, line=True)} {'━' * full:<{BAR_CELLS}} {done}/{total}{rate}"
        while cells(line) >= shutil.get_terminal_size().columns:
            line = line[:-1]
        sys.stderr.write(_CLEAR + line)
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the bar."""
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()
