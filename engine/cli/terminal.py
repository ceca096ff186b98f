"""Output and progress bars on a terminal, drawn by Rich; imported only if there is a terminal."""

from __future__ import annotations

import sys
import time

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from engine.cli.cli_output import Fields, Shown, Table, shown

SECONDS_BETWEEN_UPDATES = 0.05


def console(stream: object) -> Console:
    """Return a console that does not interpret markup or emoji codes, and highlights nothing."""
    return Console(file=stream, markup=False, emoji=False, highlight=False)  # type: ignore[arg-type]


def show(item: Shown) -> None:
    """Print one item of a result to stdout. Rich honours NO_COLOR, FORCE_COLOR and COLUMNS."""
    screen = console(sys.stdout)
    if isinstance(item, str):
        screen.print(Text(shown(item)), soft_wrap=True)
    elif isinstance(item, Table):
        # Rich's table is not used: in a narrow window it wraps ids, so that they cannot be copied.
        rows = [item.headers, *(tuple(shown(cell, line=True) for cell in row) for row in item.rows)]
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        for number, row in enumerate(rows):
            cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
            screen.print(Text("  ".join(cells).rstrip(), style="" if number else "bold"), soft_wrap=True)
    else:
        spans = item.spans if isinstance(item, Fields) else item
        parts = [(shown(text, line=True), style) for text, style in spans if text]
        between = Text("  " if isinstance(item, Fields) else "")
        screen.print(between.join(Text(*part) for part in parts), soft_wrap=True)


class _Rate(ProgressColumn):
    """The average rate per second."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        return Text(f"{task.completed / elapsed:,.0f}/s" if elapsed else "")


class Bar:
    """A progress bar on stderr, shown from the first `move` until `close`."""

    def __init__(self, what: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            console=console(sys.stderr),
            transient=True,
        )
        self._task = self._progress.add_task(shown(what, line=True))
        self._progress.start()
        self._moved = 0.0

    def move(self, done: int, total: int, what: str) -> None:
        """Set the progress to `done` of `total`, and the text to `what`.

        The bar is redrawn only a few times per second.
        """
        now = time.monotonic()
        if done >= total or now - self._moved >= SECONDS_BETWEEN_UPDATES:
            self._moved = now
            self._progress.update(self._task, completed=done, total=total, description=shown(what, line=True))

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()
