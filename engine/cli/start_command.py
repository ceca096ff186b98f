"""The command start: finds the notes and sessions of this machine, and takes in what a person chooses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import click

from engine.base.errors import InvalidInputError, NotFoundError
from engine.capture.clients import CLIENTS
from engine.cli.cli_output import counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.import_commands import import_, ingest
from engine.cli.recall_commands import recall
from engine.cli.shown_parts import line
from engine.files.ingest.documents import SourceFile
from engine.files.ingest.folder_walk import find_files
from engine.files.ingest.note_folders import note_folders

NEXT = (
    "next: `engine recall QUESTION` · `engine dream` connects people and places · `engine ui` shows it in a "
    "browser · `engine mcp install CLIENT` gives it to an agent"
)


class Place(NamedTuple):
    """Notes or sessions of this machine."""

    what: str
    where: Path
    number: int
    """The number of files or sessions."""
    unit: str
    command: click.Command
    argument: str
    """The command that takes them in, and its argument."""

    @property
    def said(self) -> str:
        """The place in words."""
        return f"{counted(self.number, self.unit)} in {self.where}"


@command("engine start", "engine start --dry-run", "engine start --yes")
def start(session: Session, *, dry_run: bool = False, yes: bool = False) -> int:
    """Find your notes and sessions, and take in what you choose.

    Looks for the vaults of Obsidian, for folders named `notes`, and for the sessions that coding agents keep,
    shows what was found, and asks about each place before it takes anything in. Nothing leaves this machine.
    Then asks for a question and answers it. A second run takes in what is new.

    Args:
        dry_run: Only show what was found.
        yes: Take in everything without asking.
    """
    if yes and session.out.json:
        raise InvalidInputError("--yes cannot be combined with --json", hint="--json only lists the places")
    places = [one for one in _places(Path.home()) if one.number]
    if dry_run or not (yes or session.out.can_ask):
        if not dry_run:
            session.out.note("nothing was taken in, because nobody can be asked; --yes takes in everything")
        data = [{"what": one.what, "where": str(one.where), "number": one.number} for one in places]
        return session.out.answer(data, [line(one.what, one.said) for one in places])
    if not places:
        session.out.note("no notes and no sessions were found; `engine ingest FOLDER` takes in a folder")
    chosen = [one for one in places if yes or click.confirm(f"Take in {one.what}: {one.said}?", err=True)]
    code = max([_run(one.command, one.argument) for one in chosen], default=0)
    if chosen:
        if not yes and (question := click.prompt("A question", "", err=True, show_default=False).strip()):
            _run(recall, question, "--limit", "3")
        session.out.note(NEXT)
    return code


def _run(command: click.Command, argument: str, *options: str) -> int:
    """Run a command as if it was typed, with the global options of this one; return its exit code."""
    arguments = [*options, "--", argument]
    with command.make_context(command.name, arguments, parent=click.get_current_context()) as context:
        return int(command.invoke(context))


def _places(home: Path) -> Iterator[Place]:
    """Yield the notes and sessions of a person that have something in them."""
    for folder in note_folders(home):
        number = sum(isinstance(one, SourceFile) for one in find_files([folder]))
        yield Place("notes", folder, number, "file", ingest, str(folder))
    for client in CLIENTS.values():
        with suppress(NotFoundError):
            place = client.place()
            number = sum(1 for _ in client.find(place))
            yield Place(client.name, place, number, "session", import_, client.name)
