# The twin of each function describes what the function returns.
from collections.abc import Callable, Sequence

class Terms:
    def __new__(
        cls, stop_words: list[str], clipped_endings: list[str], stem: Callable[[list[str]], list[str]], /
    ) -> Terms: ...

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def index_terms_many(terms: Terms, texts: Sequence[str], /) -> list[list[str] | None]: ...
