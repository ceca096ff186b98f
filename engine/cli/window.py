"""The command ui, which shows a memory in a browser."""

from __future__ import annotations

import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from engine.cli.command import command, option
from engine.cli.served import served_memories
from engine.cli.session import Session

PAGE: Final = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>memroot</title>
"""


@command("engine ui", "engine ui --store notes --no-browser")
@option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, 65_535),
    default=0,
    help="The port; 0 chooses a free port.",
)
@option("--no-browser", help="Print the address, and open no browser.")
def ui(session: Session, port: int, no_browser: bool) -> int:
    """Look into a memory with a browser, which checks what it shows.

    Serves a page on this machine only, and changes nothing. Prints the address, which has a token for this
    run at its end. Ctrl-C or SIGTERM ends it.
    """
    from engine.memories.lease import DEFAULT_WAIT
    from engine.service.access import Access
    from engine.service.app import application
    from engine.service.listening import listening
    from engine.service.pages import prepare
    from engine.service.server import run
    from engine.service.settings import Settings
    from engine.service.tokens import Tokens

    wait = session.wait if "wait" in session.given else DEFAULT_WAIT
    memories = served_memories(session, read_only=True, wait=wait)
    tokens = Tokens(memories.url)
    with ExitStack() as closing:
        closing.callback(tokens.close)
        listener = closing.enter_context(listening(Settings(port=port)))
        address = f"{listener.url}/#token={tokens.for_this_run()}"

        prepare()

        def ready() -> None:
            click.echo(address)
            if not no_browser:
                _open(address, closing)

        run(application(memories, Access(tokens, read_only=True)), listener, ready)
    return 0


def _open(address: str, closing: ExitStack) -> None:
    """Open a browser at an address.

    The browser is given a file that only this user can read, because every user of the machine can see the
    arguments of a program, and the address ends with a token.
    """
    folder = closing.enter_context(TemporaryDirectory(prefix="memroot-"))
    page = Path(folder) / "open.html"
    page.write_text(PAGE.format(address=address), encoding="utf-8")
    # In a thread, because some browsers return only when they are closed.
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
