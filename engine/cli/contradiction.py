"""What the command line does where a store contradicts a checkpoint that was kept outside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.output import Failure
from engine.cli.stores import line
from engine.errors import EngineError, InconsistentError

if TYPE_CHECKING:
    from engine.cli.session import Session
    from proofs.note import Note

UNNAMED = "checkpoint"
"""What evidence is named by where the checkpoint came from no file."""


def contradicted(
    session: Session, error: InconsistentError, known: Mapping[str, Note | None], folder: str | None = None
) -> int:
    """Keep both sides, say what is wrong, and return exit code 9.

    Args:
        session: The run.
        error: The contradiction.
        known: The notes that were asked about, by file; the first file names the evidence if the known
            checkpoint is in none of them.
        folder: Where the evidence is to go; None: beside the file.
    """
    from engine.notes.evidence import keep_evidence
    from proofs.note import format_note

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
    return session.out.answer(
        {**data, "evidence": None if kept is None else str(kept)},
        lines,
        failure=Failure(error.exit_code, error.code, str(error), hint),
    )


def _one_line(text: str) -> str:
    return text.strip().replace("\n", " ")
