"""The command scrub, which reads a whole store again, slowly."""

from __future__ import annotations

import math
import time

from backends import locate
from engine.base.errors import BusyError, InvalidInputError
from engine.base.time_text import shown_time
from engine.cli.command import command, option
from engine.cli.numbers import NUMBER
from engine.cli.output import plain
from engine.cli.session import Session
from engine.cli.shapes import line
from engine.trust.audit.scrub import Scrub, read_scrub, scrub_file, scrub_piece, store_id_of, write_scrub


@command("engine scrub", "engine scrub --share 10 --minutes 30")
@option(
    "--share",
    metavar="P",
    type=NUMBER,
    default=25.0,
    show_default=False,
    help="The percentage of the time that is spent reading. [default: 25]",
)
@option("--minutes", metavar="N", type=NUMBER, help="Stop after this time; the next scrub continues.")
def scrub(session: Session, share: float, minutes: float | None) -> int:
    """Read the whole store slowly, and check it for damage.

    Pauses after each small piece, so that other commands can use the store. If the command is interrupted,
    the next run continues. Exit code 4 means that damage was found. `engine status` shows when a scrub last
    found the store without damage.
    """
    if not 0 < share <= 100 or (minutes is not None and not minutes > 0):
        raise InvalidInputError("--share must be above 0 and at most 100, and --minutes above 0")
    url = session.setting.url
    file = scrub_file(locate(url))
    until = math.inf if minutes is None else time.monotonic() + 60 * minutes
    done = False
    with session.meter("read", "rows") as move:
        while not done:
            started = time.monotonic()
            progress, done = _piece(session, url)
            move(progress.rows or progress.events, 0)
            if time.monotonic() > until:
                break
            if not done:
                time.sleep((time.monotonic() - started) * (100 / share - 1))
    text = f"clean at {shown_time(progress.clean_at)}" if done and progress.clean_at else "not finished"
    data = {**plain(progress), "finished": done, "file": None if file is None else str(file)}
    if progress.clean_at is not None:
        data["clean_at"] = shown_time(progress.clean_at)
    return session.out.answer(data, [line("scrub", text), line("events", f"{progress.clean_events:,}")])


def _piece(session: Session, url: str) -> tuple[Scrub, bool]:
    """Check the next piece and save the progress; wait while another process has the store open."""
    file = scrub_file(locate(url))
    while True:
        try:
            with session.backend(url) as backend:
                progress, done = scrub_piece(backend, read_scrub(file, store_id_of(backend)))
                write_scrub(file, progress)
                return progress, done
        except BusyError:
            time.sleep(BUSY_SECONDS)


BUSY_SECONDS = 1.0
"""The pause, in seconds, before the next attempt to open a store that is in use."""
