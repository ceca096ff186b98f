# The twin of each function describes what the function returns.
from collections.abc import Sequence
from typing import Any

def decode_rows(rows: Sequence[bytes | None], checks: bytes, /) -> list[list[Any] | None]: ...
def estimate_tokens(text: str, /) -> int | None: ...
def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def open_bodies(
    seqs: Sequence[int],
    headers: Sequence[bytes | None],
    payloads: Sequence[bytes | None],
    header_checks: bytes,
    body_checks: bytes,
    /,
) -> list[list[Any] | None]: ...
def read_text(
    text: str,
    words: dict[str, tuple[str, ...]],
    numbers: dict[str, int],
    weights: Sequence[float],
    window: int,
    chars: int,
    cut: tuple[bool, bool],
    /,
) -> tuple[list[str], float, str] | None: ...
