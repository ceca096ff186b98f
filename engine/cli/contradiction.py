"""Functions that compare saved checkpoints with a store and save evidence of a contradiction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from engine.base.errors import EngineError, InconsistentError, InvalidInputError
from engine.cli.output import Failure
from engine.cli.session import Session
from engine.cli.shapes import line
from engine.trust.notes.history import check_pair, keep_evidence, read_history
from proofs.note import Note, format_note

UNNAMED = "checkpoint"
"""The base name of evidence files if the checkpoint did not come from a file."""


def compared(
    session: Session, notes: Sequence[Note], since: tuple[Note, Note] | None, *, asked: bool
) -> bool:
    """Compare saved checkpoints (notes) with each other and with the store.

    With `asked`, the log of the store must continue all of `notes`. The second note of `since` must continue
    the first note.

    Returns:
        False if the comparison needs the store, and the store was not consulted.

    Raises:
        InconsistentError: the store contradicts a note, or the two notes contradict each other.
        InvalidInputError: the store contains both notes, and the first is newer than the second.
    """
    # Two notes in the wrong order look like a rollback. If the store contains both, there was no rollback.
    turned = asked and since is not None and swapped(*since)
    settled = since is None or turned or check_pair(since[0].checkpoint, since[1].checkpoint)
    if asked:
        with session.backend(session.setting.url) as backend, backend.snapshot() as rows:
            history = read_history(rows, [note.checkpoint.size for note in notes])
            for note in notes:
                history.check(note.checkpoint)
    if turned and since is not None:
        sizes = [note.checkpoint.size for note in since]
        raise InvalidInputError(
            f"OLD is newer than NEW: it covers {sizes[0]:,} events, NEW covers {sizes[1]:,}",
            hint="swap the two files",
        )
    return settled or asked


def swapped(old: Note, new: Note) -> bool:
    """Return True if both notes are of the same store and `old` covers more events than `new`."""
    return old.checkpoint.origin == new.checkpoint.origin and old.checkpoint.size > new.checkpoint.size


def contradicted(
    session: Session,
    error: InconsistentError,
    known: Mapping[str, Note | None],
    folder: str | None = None,
    advice: str = "",
) -> int:
    """Save both checkpoints as evidence, report the contradiction, and return exit code 9.

    Args:
        session: The current run.
        error: The contradiction.
        known: File → the note that was read from this file and checked. The evidence is named after the
            file of the contradicted checkpoint, or after the first file if no file contains that checkpoint.
        folder: The folder for the evidence. None means the folder of the file that gives the evidence its
            name.
        advice: The hint that tells the user what to check first.
    """
    named = {note.checkpoint.text: (name, format_note(note).decode()) for name, note in known.items() if note}
    name, text = named.get(error.known, (next(iter(known), ""), error.known))
    beside = Path(UNNAMED if name in {"", "-"} else name)
    place = beside if folder is None else Path(folder) / beside.name
    try:
        kept: Path | None = keep_evidence(error, text, place)
        hint = f"both checkpoints are saved in {kept}; show them to the operator of the store"
    except EngineError as failure:
        kept, hint = None, f"the evidence could not be saved ({failure}): save both checkpoints yourself"
    data = {"problem": str(error), "known": text, "found": list(error.found)}
    lines = [line("known", _one_line(error.known)), line("found", _one_line(error.found[-1]))]
    hint = f"{advice}; {hint}" if advice else hint
    return session.out.answer(
        {**data, "evidence": None if kept is None else str(kept)},
        lines,
        failure=replace(Failure.of(error), hint=hint),
    )


def _one_line(text: str) -> str:
    """Return the three lines of a checkpoint, without signatures, on one line."""
    return text.partition("\n\n")[0].strip().replace("\n", " ")
