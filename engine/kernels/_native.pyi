# The twin of each function describes what the function returns.
from collections.abc import Callable, Sequence

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def update_pages(
    prefix: bytes,
    changes: dict[bytes, bytes | None],
    read: Callable[[list[bytes]], Sequence[bytes | None]],
    /,
) -> tuple[dict[bytes, bytes | None], bytes] | None: ...
