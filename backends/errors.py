"""The exceptions of backends."""


class BackendError(Exception):
    """The base class of all exceptions that backends raise."""


class BackendBusy(BackendError):
    """Raised if another handle or process has the store open or locked.

    `holder` names the other handle or process (`pid 4711`), if it is known. `hint` tells the user what to do.
    """

    def __init__(
        self, where: str, holder: str, *, hint: str = "try again later, or close the store there"
    ) -> None:
        super().__init__(f"{where} is in use by {holder}")
        self.where = where
        self.holder = holder
        self.hint = hint


class BackendMissing(BackendError):
    """Raised if there is no store at the path, and `create` is false."""


class BackendUnusable(BackendError):
    """Raised if the path, the URL or the installation does not allow this kind of store."""


class BackendEnvironment(BackendError):
    """Raised if the system fails or refuses an operation: full disk, I/O error, missing permission and so on.

    The store is not the cause, and nothing was written. `number` is the errno of the system, or 0 if it is
    unknown. `hint` tells the user what to do.
    """

    def __init__(self, message: str, *, number: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.number = number
        self.hint = hint


class BackendClosed(BackendError):
    """Raised if the handle is closed, or belongs to the parent process after a fork."""


class BackendCorrupt(BackendError):
    """Raised if the stored bytes fail the backend's own checks.

    `key` is the key of the damaged row, or None if the damage is not in one row.
    """

    def __init__(self, message: str, *, key: bytes | None = None) -> None:
        super().__init__(message)
        self.key = key


class BackendLost(BackendCorrupt):
    """Raised if a store lacks writes that were acknowledged. `hint` tells the user what to do next."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class BackendInDoubt(BackendError):
    """Raised if a write failed after it was sent. To find out if the write took effect, reopen the store.

    The handle refuses every later write. After a failed fsync, the result of a second fsync is not reliable,
    and LevelDB loses data that is written after a failed write. `hint` tells the user what to do.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class GuardFailed(BackendError):
    """Raised if a guarded row does not have the expected value; nothing was written."""
