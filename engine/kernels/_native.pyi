# The twin of each function describes what the function returns.
from collections.abc import Callable, Sequence

from proofs.events import Entry

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def update_pages(
    prefix: bytes,
    changes: dict[bytes, bytes | None],
    read: Callable[[list[bytes]], Sequence[bytes | None]],
    /,
) -> tuple[dict[bytes, bytes | None], bytes] | None: ...
def added_leaves(
    entries: list[Entry], /
) -> tuple[dict[bytes, bytes | None], dict[bytes, bytes | None], list[int]]: ...
