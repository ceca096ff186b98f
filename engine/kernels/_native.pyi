# The twin of each function describes what the function returns.
from collections.abc import Sequence

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
