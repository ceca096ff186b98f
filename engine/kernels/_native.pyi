# The twin of each function describes what the function returns.
from collections.abc import Callable, Sequence
from typing import Self

class Terms:
    def __new__(
        cls, stop_words: list[str], clipped_endings: list[str], stem: Callable[[list[str]], list[str]], /
    ) -> Self: ...

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def index_terms_many(terms: Terms, texts: Sequence[str], /) -> list[list[str] | None]: ...
def build_columns(
    terms: Terms, documents: Sequence[tuple[object, ...] | None], /
) -> tuple[list[bytes], bytes, bytes, bytes, bytes, bytes, int] | None: ...
def build_segment(
    terms: Terms,
    prefix: bytes,
    stored: Sequence[tuple[int, int, int, int, int, Sequence[tuple[bytes, bytes]], Sequence[int]]],
    documents: Sequence[tuple[object, ...] | None],
    /,
) -> tuple[dict[bytes, bytes], int, int, int, bytes, bytes] | None: ...
