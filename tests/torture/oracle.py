"""What must be true of a store after any fault, and the count of what is not."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from backends.errors import BackendError
from engine.base.errors import EngineError
from engine.engine import Engine
from engine.exchange.rescue.rescued_journal import ACTOR
from engine.ledger.journal import read_log
from engine.ledger.layout import journal_key
from proofs.codec import decode_header
from tests.support.engines import ticking
from tests.torture.programs import salts

LOST: Final = "acknowledged events lost"
NOT_OPENED: Final = "not opened"
WRONG: Final = "differ from the undisturbed run"
FOREIGN: Final = "errors that are not ours"
BROKEN: Final = "not verified"
FAILURES: Final = (LOST, NOT_OPENED, WRONG, FOREIGN, BROKEN)
"""The counts that must be 0."""

Journal = Sequence[bytes]
"""The headers of the events, in order."""


def journal_of(url: str) -> list[bytes]:
    """Return the headers of a store."""
    with Engine.open(url, create=False) as engine:
        return _headers(engine)


def _headers(engine: Engine) -> list[bytes]:
    backend = engine.store.backend
    found = backend.multi_get([journal_key(seq) for seq in range(read_log(backend).size)])
    return [header for header in found if header is not None]


class Found(NamedTuple):
    """What became of a store: whether it opened, and how its journal compares."""

    how: str
    """`opened`, `rescued` or `not opened`."""
    error: str = ""
    lost: int = 0
    wrong: bool = False
    verified: bool | None = None


def examine(url: str, expected: Journal, acknowledged: int, *, verify: bool) -> Found:
    """Open a store after a fault, and compare its journal with that of the undisturbed run.

    A store that does not open is rescued into a new one.
    """
    try:
        return _examined("opened", url, expected, acknowledged, verify=verify)
    except (EngineError, BackendError) as error:
        said = f"{type(error).__name__}: {error}"
    with tempfile.TemporaryDirectory() as folder:
        rescued = str(Path(folder) / "rescued")
        if _rescue(url, rescued) not in RESCUED:
            return Found(NOT_OPENED, said)
        try:
            return _examined("rescued", rescued, expected, acknowledged, verify=verify)._replace(error=said)
        except EngineError as error:
            return Found(NOT_OPENED, f"{said}; rescued: {error}")


RESCUED: Final = (0, 4)
"""The exit codes of a rescue that made a new store; 4 if it knows of events that are not in it."""


def _rescue(url: str, target: str) -> int:
    import contextlib
    import io

    from engine.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return main(["rescue", url, "-o", target])


def _examined(how: str, url: str, expected: Journal, acknowledged: int, *, verify: bool) -> Found:
    with Engine.open(url, create=False, clock=ticking(), salts=salts) as engine:
        headers = _headers(engine)
        # A rescue records its own events at the end, for instance if it saw a part of an erasure.
        while how == "rescued" and headers and decode_header(headers[-1], len(headers) - 1).actor == ACTOR:
            headers.pop()
        lost = sum(
            seq >= len(headers) or headers[seq] != expected[seq]
            for seq in range(min(acknowledged, len(expected)))
        )
        wrong = headers != list(expected[: len(headers)])
        engine.root()
        return Found(how, "", lost, wrong, engine.verify().ok if verify else None)


def count(found: Found, acknowledged: int) -> Counter[str]:
    """Return what one store adds to the counts of its exercise."""
    counts: Counter[str] = Counter({"states": 1, found.how: 1})
    if found.how == NOT_OPENED:
        counts[f"{NOT_OPENED}, with acknowledged events"] += acknowledged > 0
        return counts
    counts[LOST] += found.lost
    counts[WRONG] += found.wrong
    if found.verified is not None:
        counts["verified"] += found.verified
        counts[BROKEN] += not found.verified
    return counts
