# The twin of each function describes what the function returns.
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias

from proofs.events import AtomBody, Body, Detail, Entry, EventKind
from proofs.leaves import State

_Lists: TypeAlias = tuple[
    Sequence[tuple[float, Sequence[bytes | None], Sequence[bytes | None]]],
    float,
    Sequence[tuple[float, bytes]],
    Sequence[int],
    Sequence[bytes],
    bytes,
]
_Allowed: TypeAlias = tuple[Sequence[float], bytes, Sequence[tuple[float, bytes]]]
_Orders: TypeAlias = Sequence[tuple[int, bytes, bytes, bytes, bytes, bytes, bytes]]

class Terms:
    def __new__(
        cls,
        stop_words: list[str],
        clipped_endings: list[str],
        stem: Callable[[list[str]], list[str]],
        word_terms: Callable[[str], tuple[str, ...]],
        /,
    ) -> Self: ...

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def find_postings(
    packs: Sequence[bytes | None], terms: Sequence[bytes], documents: Sequence[int], /
) -> list[bytes | None]: ...
def best_documents(
    lists: _Lists,
    allowed: _Allowed,
    limit: int,
    most: int,
    /,
) -> tuple[bytes, bytes] | None: ...
def candidates(
    lists: _Lists,
    allowed: _Allowed,
    orders: _Orders,
    limit: int,
    most: int,
    factors: Sequence[float],
    sizes: tuple[float, int],
    weights: tuple[float, float, float, float],
    /,
) -> tuple[bytes, bytes, bytes, bytes, bytes] | None: ...
def gains_at(
    lists: _Lists,
    ordinals: bytes,
    /,
) -> tuple[bytes, bytes] | None: ...
def lacking(
    lists: _Lists,
    ordinals: bytes,
    /,
) -> bytes | None: ...
def ranked(scores: bytes, most: int, /) -> bytes | None: ...
def update_pages(
    prefix: bytes,
    changes: dict[bytes, bytes | None],
    read: Callable[[list[bytes]], Sequence[bytes | None]],
    before: dict[bytes, bytes | None],
    root: bytes | None,
    /,
) -> tuple[dict[bytes, bytes | None], bytes] | None: ...
def held_leaves(
    prefix: bytes,
    namespace: str,
    keys: list[bytes],
    pages: dict[bytes, bytes | None],
    read: Callable[[list[bytes]], Sequence[bytes | None]],
    /,
) -> list[bool] | None: ...
def added_leaves(
    entries: list[Entry], /
) -> tuple[dict[bytes, bytes | None], dict[bytes, bytes | None], list[int]]: ...
def added_members(
    entries: list[Entry], /
) -> tuple[dict[bytes, bytes], dict[bytes, bytes], list[int]] | None: ...
def extended_chunks(stored: list[bytes | None], joining: list[bytes], /) -> list[bytes] | None: ...
def salted_leaves(
    namespace: str, row_key: bytes, keys: list[bytes], values: list[bytes], /
) -> dict[bytes, bytes | None]: ...
def complete_roots(hashes: list[bytes], width: int, /) -> list[bytes] | None: ...
def index_terms_many(terms: Terms, texts: Sequence[str], /) -> list[list[str] | None]: ...
def is_simple_text(text: str, /) -> bool: ...
def labels(label_key: bytes, group: int, values: list[bytes], /) -> list[bytes]: ...
def build_columns(
    terms: Terms, label_key: bytes, documents: Sequence[tuple[object, ...] | None], /
) -> tuple[list[bytes], bytes, bytes, bytes, bytes, bytes, int] | None: ...
def build_segment(
    terms: Terms,
    prefix: bytes,
    segment: bytes,
    label_key: bytes,
    row_key: bytes,
    stored: Sequence[tuple[int, int, int, int, int, Sequence[tuple[bytes, bytes]], Sequence[int]]],
    documents: Sequence[tuple[object, ...] | None],
    /,
) -> tuple[dict[bytes, bytes], int, int, int, bytes, bytes] | None: ...
def encoded_events(
    frontier: bytes,
    actor: str,
    drafts: list[tuple[EventKind, int | None, Detail, Body]],
    salts: list[bytes],
    times: list[int],
    /,
) -> tuple[dict[bytes, bytes], list[bytes], list[bytes], bytes, int] | None: ...
def decode_atoms(
    rows: Sequence[bytes], atoms: Sequence[bytes], states: tuple[State, ...], /
) -> list[tuple[Any, ...] | None]: ...
def default_ids(id_key: bytes, bodies: list[AtomBody], /) -> list[bytes] | None: ...
def estimate_tokens(text: str, /) -> int | None: ...
def open_bodies(
    seqs: Sequence[int],
    subjects: Sequence[bytes],
    headers: Sequence[bytes | None],
    payloads: Sequence[bytes | None],
    /,
) -> list[tuple[Any, ...] | None]: ...
def decode_entries(
    headers: list[bytes],
    payloads: list[bytes | None],
    start: int,
    classes: tuple[type, type, type, list[tuple[EventKind, type, type] | None]],
    /,
) -> list[Entry | None]: ...
def extended_frontier(frontier: bytes, leaves: list[bytes], /) -> bytes | None: ...
def headers_of_kinds(headers: list[bytes], kinds: list[int], /) -> list[int]: ...
def added_records(entries: list[Entry], /) -> tuple[list[bytes], dict[bytes, bytes], list[int]] | None: ...
def doubtful_entries(headers: list[bytes], payloads: list[bytes | None], start: int, /) -> list[int]: ...
def read_texts(
    terms: Terms,
    texts: Sequence[str],
    cut: tuple[bool, bool],
    most: int,
    asked: Sequence[str],
    weights: Sequence[float],
    total: float,
    window: int,
    chars: int,
    whole: bool,
    /,
) -> list[tuple[list[str] | None, float, str] | None]: ...
def most_relevant(
    own: Terms,
    texts: Sequence[str],
    shares: Sequence[float],
    known: Sequence[str],
    most: int,
    /,
) -> list[tuple[str, float]] | None: ...
def hit_tokens(
    title: str | None, source: str | None, sequence: int | None, digits: str, content: str, /
) -> int | None: ...
def near_earlier(raw: bytes, start: int, /) -> list[bool]: ...
