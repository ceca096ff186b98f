"""What can go wrong in a backend, each with the fact the caller needs to act on it."""


class BackendError(Exception):
    """Any failure of a backend; nothing else leaves one."""


class BackendBusy(BackendError):
    """Another owner holds the store; `holder` names it (`pid 4711`) as far as it is known."""

    def __init__(self, where: str, holder: str) -> None:
        super().__init__(f"{where} is in use by {holder}")
        self.where = where
        self.holder = holder


class BackendMissing(BackendError):
    """There is no store at this place, and creating one was not asked for."""


class BackendUnusable(BackendError):
    """The place, the URL or the installation cannot serve as this kind of store."""


class BackendClosed(BackendError):
    """The handle was closed (or belongs to another process, after a fork)."""


class BackendCorrupt(BackendError):
    """The stored bytes fail the backend's own checks."""


class BackendInDoubt(BackendError):
    """A write failed after it was sent: it may or may not be there after reopening.

    The handle refuses every later write (it is poisoned): an operating system that failed
    an fsync once gives no usable answer the second time, and LevelDB loses what is written
    after a failed write.
    """


class GuardFailed(BackendError):
    """The guarded row no longer holds the expected value; nothing was written."""
