"""Comparing kept checkpoints with a store, and what the command line does where it contradicts them."""

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
"""What evidence is named by where the checkpoint came from no file."""


def compared(
    session: Session, notes: Sequence[Note], since: tuple[Note, Note] | None, *, asked: bool
) -> bool:
    """Compare kept checkpoints with each other and with the store; False: only the store could tell.

    If it is `asked`, the store must have all of `notes`. The second note of `since` must continue the first.

    Raises:
        InconsistentError: the store contradicts one of them, or the two contradict each other.
        InvalidInputError: the store has both, and the first is the newer one.
    """
    # In the wrong order they look like a rollback; a store that has both knows better.
    turned = asked and since is not None and swapped(*since)
    told = since is None or turned or check_pair(since[0].checkpoint, since[1].checkpoint)
    if asked:
        with session.backend(session.setting.url) as backend, backend.snapshot() as rows:
            history = read_history(rows, [note.checkpoint.size for note in notes])
            for note in notes:
                history.check(note.checkpoint)
    if turned and since is not None:
        sizes = [note.checkpoint.size for note in since]
        raise InvalidInputError(
            f"OLD is the newer one: it has {sizes[0]:,} events, the other {sizes[1]:,}", hint="swap them"
        )
    return told or asked


def swapped(old: Note, new: Note) -> bool:
    """Whether `old` is of more events than `new`, of the same store."""
    return old.checkpoint.origin == new.checkpoint.origin and old.checkpoint.size > new.checkpoint.size


def contradicted(
    session: Session,
    error: InconsistentError,
    known: Mapping[str, Note | None],
    folder: str | None = None,
    advice: str = "",
) -> int:
    """Keep both sides, say what is wrong, and return exit code 9.

    Args:
        session: The run.
        error: The contradiction.
        known: The notes that were asked about, by file; the first file names the evidence if the known
            checkpoint is in none of them.
        folder: Where the evidence goes; None: beside the file.
        advice: What to look at before anything else.
    """
    named = {note.checkpoint.text: (name, format_note(note).decode()) for name, note in known.items() if note}
    name, text = named.get(error.known, (next(iter(known), ""), error.known))
    beside = Path(UNNAMED if name in {"", "-"} else name)
    place = beside if folder is None else Path(folder) / beside.name
    try:
        kept: Path | None = keep_evidence(error, text, place)
        hint = f"both are kept in {kept}; show it to whoever keeps the store"
    except EngineError as failure:
        kept, hint = None, f"keep both checkpoints yourself: {failure}"
    data = {"problem": str(error), "known": text, "found": list(error.found)}
    lines = [line("known", _one_line(error.known)), line("found", _one_line(error.found[-1]))]
    hint = f"{advice}; {hint}" if advice else hint
    return session.out.answer(
        {**data, "evidence": None if kept is None else str(kept)},
        lines,
        failure=replace(Failure.of(error), hint=hint),
    )


def _one_line(text: str) -> str:
    """The three lines of a checkpoint, without its signatures."""
    return text.partition("\n\n")[0].strip().replace("\n", " ")
