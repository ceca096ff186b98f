# The twin of each function describes what the function returns.
from collections.abc import Sequence
from typing import Any

from proofs.events import AtomBody
from proofs.leaves import State

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def added_rows(
    frontier: bytes,
    ordinal: int,
    actor: str,
    ids: list[bytes],
    bodies: list[AtomBody],
    salts: list[bytes],
    times: list[int],
    /,
) -> tuple[dict[bytes, bytes], list[bytes], list[bytes], bytes, int] | None: ...
def decode_atom(raw: bytes, atom: bytes, states: tuple[State, ...], /) -> tuple[Any, ...] | None: ...
def default_ids(id_key: bytes, bodies: list[AtomBody], /) -> list[bytes] | None: ...
