"""Every error the engine raises on purpose: what happened, where, and what to do about it."""

from __future__ import annotations


class EngineError(Exception):
    """The base of all errors of ours.

    `code` is stable and machine-readable; `exit_code` is what the command line leaves with;
    `hint` says what to do next, where there is something to do.
    """

    code = "failure"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InvalidInputError(EngineError):
    """An argument that breaks a rule of SPEC.md; nothing was written."""

    code = "invalid"
    exit_code = 2


class LimitError(InvalidInputError):
    """An argument over a limit of the table in SPEC.md; nothing was written."""

    code = "limit"


class BatchLimitError(LimitError):
    """Commands that are allowed one by one, but too many or too large for one batch."""


class NotFoundError(EngineError):
    """What was asked for was never recorded, or is not there in the asked state."""

    code = "not_found"
    exit_code = 3


class VerificationError(EngineError):
    """The store is not what its journal says."""

    code = "verification_failed"
    exit_code = 4


class CorruptionError(VerificationError):
    """Stored bytes that cannot be what was written; never served as an answer.

    `family` names the family of rows (`engine.ledger.layout.FAMILIES`), `seq` the event, where known.
    """

    code = "corrupt"

    def __init__(self, message: str, *, hint: str = "", family: str = "", seq: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.family = family
        self.seq = seq


class BusyError(EngineError):
    """Another owner holds the store."""

    code = "busy"
    exit_code = 5


class ConflictError(EngineError):
    """The command contradicts what is recorded; nothing was written."""

    code = "conflict"
    exit_code = 6


class RefusedError(EngineError):
    """The command was understood and not carried out."""

    code = "refused"
    exit_code = 7


class InconsistentError(EngineError):
    """The store is not a continuation of a checkpoint kept outside it: it went back, forked, or is another.

    `known` is the text of that checkpoint, with its signatures where they are kept; `found` are those that
    the store gives, its head last.
    """

    code = "inconsistent"
    exit_code = 9

    def __init__(self, message: str, *, known: str, found: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint=hint or "keep both checkpoints, and ask whoever keeps the store")
        self.known = known
        self.found = found


class ClosedError(EngineError):
    """The engine was closed, or belongs to the process this one was forked from."""

    code = "closed"


class InDoubtError(EngineError):
    """A write failed after it was sent: it may or may not have been kept.

    Reopen the store and ask `Engine.was_kept(error.seq, error.event_id)`; if not, repeat. A single
    command may be repeated without asking: where it was kept, it is no event the second time.
    """

    code = "in_doubt"

    def __init__(self, message: str, *, seq: int = -1, event_id: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint or "reopen the store and repeat the command")
        self.seq = seq
        self.event_id = event_id
