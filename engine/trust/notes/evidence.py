"""Keeping both sides of a contradiction: the known checkpoint, and what the store gives instead."""

from __future__ import annotations

import json
from pathlib import Path

from engine.base.errors import EngineError, InconsistentError
from engine.trust.notes.files import PUBLIC, make_file

_NUMBERS = 10_000


def keep_evidence(error: InconsistentError, known: str, place: Path) -> Path:
    """Write what contradicts what to a new file, and return it; a file that holds just this is enough.

    It is `place`.evidence-N.json with the first N that is free, one JSON object: `problem`, `known` (the
    note as it was given) and `found` (the texts that the store gives, its head last).

    Args:
        error: The contradiction.
        known: The known note, with its signatures; empty: the text that the error has.
        place: The path that the name begins with.

    Raises:
        EngineError: it cannot be written.
    """
    held = {"problem": str(error), "known": known or error.known, "found": list(error.found)}
    data = (json.dumps(held, indent=2, ensure_ascii=True) + "\n").encode()
    try:
        for number in range(1, _NUMBERS):
            path = place.with_name(f"{place.name}.evidence-{number}.json")
            try:
                make_file(path, data, PUBLIC)
            except FileExistsError:
                if _holds(path, data):
                    return path
                continue
            return path
    except (OSError, ValueError) as failure:
        raise EngineError(f"the evidence cannot be kept beside {place}: {failure}") from failure
    raise EngineError(f"there are {_NUMBERS - 1} files of evidence beside {place}")


def _holds(path: Path, data: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(data) + 1) == data
