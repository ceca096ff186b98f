"""The compiled kernels build and merge the segments of their twins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import CorruptionError
from engine.index import columns, packs, postings
from engine.index.columns import Columns, NewDocument
from engine.index.document_numbers import decode_numbers, encode_numbers
from engine.index.postings import Encoded, StoredPart, build_segment
from engine.index.segments import SegmentName
from engine.text.analyzer import CLIPPED_ENDINGS, STOP_WORDS, stem_words, word_terms
from proofs.labels import label_of
from tests.followers.support import INDEX_KEYS, body
from tests.index.test_index_corruption import BAD_ENTRIES
from tests.kernels.native import native
from tests.spec import spec_packs

LARGER = SegmentName(1, 0)
WORDS = (
    "Straße",
    "ΑΓ’s",
    "don’t",
    "the",
    "sea",
    "Running",
    "ADR-016",
    "aBcD",
    "x" * 70,
    "café",
    "猫が",
    "of",
    "don't",
    "ship",
    "C++",
)
CONTENTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    st.text(alphabet="Anb:*, #\n1é’—\uff1a\u200d", max_size=50),
    st.builds(
        "{}: {}".format, st.sampled_from(["Anna", "**Anna Sea", "a b c d", "a  b", "A" * 41]), st.text()
    ),
    st.just("sea " * 300 + "ship " * 400),
)
TITLES = st.one_of(
    st.none(),
    st.sampled_from(
        [
            "",
            "The sea",
            "The sea (band)",
            " (x)",
            "a (b) (c)",
            "the",
            "of (sea)",
            "Café (x)",
            "É (été)",
            "猫 (x)",
        ]
    ),
)
BODIES = st.one_of(
    st.none(),
    st.builds(
        body,
        CONTENTS,
        TITLES,
        st.one_of(st.none(), st.sampled_from(["a.md", "ä.md"])),
        st.one_of(st.none(), st.integers(0, (1 << 63) - 1)),
    ),
)


@contextmanager
def kernels(*, used: bool) -> Iterator[None]:
    """Use the compiled kernels, with an empty table of words, or their twins."""
    with pytest.MonkeyPatch.context() as patch:
        module = native()
        table = module.Terms(sorted(STOP_WORDS), sorted(CLIPPED_ENDINGS), stem_words, word_terms)
        for user in (columns, postings):
            patch.setattr(user, "NATIVE", module if used else None)
            patch.setattr(user, "KERNEL_TERMS", table)
        yield


def plain(found: Columns) -> list[object]:
    """Return columns in a form that can be compared."""
    return [
        found.terms,
        *((column.dtype.str, column.tolist()) for column in (*found[1:5], *found.facts)),
        found.documents,
    ]


def documents_of(bodies: Sequence[object]) -> list[NewDocument]:
    """Return new documents, which are not analysed yet."""
    return [NewDocument(one) for one in bodies]  # type: ignore[arg-type]


@given(st.lists(BODIES, max_size=12), st.sampled_from([1, 60]))
def test_columns(bodies: list[object], times: int) -> None:
    """The columns of documents are those of the twin, also with enough documents for several threads."""
    with kernels(used=True):
        found = columns.columns_of(documents_of(bodies * times), INDEX_KEYS)
    with kernels(used=False):
        expected = columns.columns_of(documents_of(bodies * times), INDEX_KEYS)
    assert plain(found) == plain(expected)


def stored_part(number: int, bodies: Sequence[object], removed: list[int]) -> StoredPart:
    """Return a stored segment of 256 documents, most of them without text."""
    name = SegmentName(0, 256 * number)
    shared = [bodies[at] if at < len(bodies) else None for at in range(256)]
    encoded = build_segment(name.key, (), documents_of(shared), INDEX_KEYS)
    alive = [at for at in removed if at < len(bodies) and bodies[at] is not None]
    return StoredPart(name, encoded.summary, list(encoded.rows.items()), alive)


@given(
    st.lists(
        st.tuples(
            st.lists(BODIES, max_size=8), st.lists(st.integers(0, 7), max_size=3, unique=True).map(sorted)
        ),
        max_size=4,
    ),
    st.lists(BODIES, max_size=8),
)
def test_segments(parts: list[tuple[list[object], list[int]]], bodies: list[object]) -> None:
    """Merging stored segments and new documents gives the rows of the twin, in the same order."""
    with kernels(used=False):
        stored = [stored_part(number, *part) for number, part in enumerate(parts)]
        expected = build_segment(LARGER.key, stored, documents_of(bodies), INDEX_KEYS)
    with kernels(used=True):
        found = build_segment(LARGER.key, stored, documents_of(bodies), INDEX_KEYS)
    assert (list(found.rows.items()), found[1:]) == (list(expected.rows.items()), expected[1:])


def test_large_segments() -> None:
    """Segments with enough rows for several threads have the rows of the twin."""
    many = [body(" ".join(f"w{number * at}" for at in range(20))) for number in range(500)]
    with kernels(used=False):
        stored = [stored_part(number, many[number::3][:256], [0, 9]) for number in range(3)]
        expected = build_segment(LARGER.key, stored, documents_of(many), INDEX_KEYS)
    with kernels(used=True):
        assert build_segment(LARGER.key, stored, documents_of(many), INDEX_KEYS) == expected


def outcome(part: StoredPart, bodies: Sequence[object], *, used: bool) -> Encoded | str:
    """Return the segment of a part and documents, or the message of the error."""
    with kernels(used=used):
        try:
            return build_segment(LARGER.key, [part], documents_of(bodies), INDEX_KEYS)
        except CorruptionError as error:
            return str(error)


@pytest.mark.parametrize("case", BAD_ENTRIES)
def test_malformed_postings_are_declined(case: str) -> None:
    """A part with a malformed entry of a term gives the error of the twin."""
    bodies = [body("sea")] * 4
    with kernels(used=False):
        good = stored_part(0, bodies, [])
    ((name, pack),) = packs.pack(INDEX_KEYS.names([b"sea"]), [BAD_ENTRIES[case]])
    rows = [(key, pack if key.endswith(name) else value) for key, value in good.rows]
    assert rows != good.rows
    part = good._replace(rows=rows)
    assert isinstance(outcome(part, bodies, used=False), str)
    assert outcome(part, bodies, used=True) == outcome(part, bodies, used=False)


POSTINGS = st.dictionaries(st.integers(0, 255), st.integers(1, 255), min_size=1).map(
    lambda found: (sorted(found), [found[at] for at in sorted(found)])
)


def row_in(pack: bytes, term: bytes, documents: int) -> bytes | None:
    """Return what the twin finds in a pack, in the form of the kernel."""
    try:
        return packs.find_row(b"i/seg/x/", pack, term, documents) or b""
    except CorruptionError:
        return None


def row_by_kernel(pack: bytes, term: bytes, documents: int) -> bytes | None:
    """Return what the kernel finds in a pack, here as one of several."""
    rows: list[bytes | None] = native().find_postings([None, pack, pack], [term] * 3, [documents] * 3)
    none, row, again = rows
    assert none == b""
    assert again == row
    return row


def test_a_term_is_not_looked_for_in_a_pack_that_is_too_short() -> None:
    """A pack that is too short for its entries is declined, also for a term before all of its terms."""
    short = b"\x02\x01\x01\x01\x02\x00\x00\x02\x00\x00\x01\x02\x02\x00\x02\x00\x02\x00"
    assert row_by_kernel(short, b"", 256) is None
    assert row_in(short, b"", 256) is None


@given(
    st.dictionaries(st.binary(min_size=1, max_size=3), POSTINGS, min_size=1, max_size=9),
    st.binary(max_size=3),
    st.integers(256, 2600),
    st.data(),
)
def test_find_postings(
    found: dict[bytes, tuple[list[int], list[int]]], other: bytes, documents: int, data: st.DataObject
) -> None:
    """A row in a pack is that of the twin, and what the twin refuses is declined."""
    terms = sorted(found)
    dfs = np.array([len(found[term][0]) for term in terms])
    offsets = np.array([at for term in terms for at in found[term][0]], "<u2")
    tfs = np.array([tf for term in terms for tf in found[term][1]], np.uint8)
    postings = packs.TermPostings(dfs, offsets, tfs)
    entries = packs.encode_entries(postings, documents)
    ((first, raw),) = packs.pack(terms, entries)
    assert first == terms[0]
    for term, row in zip(terms, packs.row_values(postings), strict=True):
        assert row_by_kernel(raw, term, documents) == row == row_in(raw, term, documents)
    assert row_by_kernel(raw, other, documents) == row_in(raw, other, documents)
    at = data.draw(st.integers(0, len(raw)))
    damaged = raw[:at] + data.draw(st.binary(max_size=2)) + raw[at + data.draw(st.integers(0, 3)) :]
    for term in (other, *terms):
        of_damaged = row_by_kernel(damaged, term, documents)
        assert (
            of_damaged is None or of_damaged == row_in(damaged, term, documents) or _is_out_of_order(damaged)
        )


def _is_out_of_order(raw: bytes) -> bool:
    """Return whether the terms of a pack do not ascend, so that looking for a term can miss it."""
    terms, _ = packs.split(raw) or ([], [])
    return terms != sorted(terms)


@given(
    st.lists(st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1)), min_size=1, max_size=60),
    st.sampled_from([1, 20]),
)
def test_columns_of_numbers(column: list[int], times: int) -> None:
    """A column of numbers is read as it was written, in the shorter of its two forms."""
    numbers = np.array(column * times, np.uint64)
    raw = encode_numbers(numbers)
    assert raw == spec_packs.column(column * times)
    decoded = decode_numbers(raw + b"more", len(numbers))
    assert decoded is not None
    assert (decoded[0].tolist(), decoded[1]) == (column * times, len(raw))


@given(st.data())
def test_damaged_rows(data: st.DataObject) -> None:
    """Parts with a damaged row are declined, or merged like the twin merges them."""
    bodies = [body("Anna: the sea"), body("ship sea"), None, body("sea", "Sea")]
    with kernels(used=False):
        good = stored_part(0, bodies, [])
    rows = list(good.rows)
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(rows) - 1))
        key, value = rows[at]
        cut = data.draw(st.integers(0, len(value)))
        value = value[:cut] + data.draw(st.binary(max_size=3)) + value[cut + data.draw(st.integers(0, 3)) :]
        renamed = key + data.draw(st.sampled_from([b"", b"\xff", b"\x00", b"x" * 64]))
        rows[at] = data.draw(st.sampled_from([(key, value), (renamed, rows[at][1])]))
    if data.draw(st.booleans()):
        rows.pop(data.draw(st.integers(0, len(rows) - 1)))
    part = good._replace(rows=sorted(rows))

    assert outcome(part, bodies, used=True) == outcome(part, bodies, used=False)


def test_more_documents_than_a_segment_has_are_declined() -> None:
    """A kernel does not build a segment of more than 65,536 documents."""
    table = native().Terms([], [], stem_words, word_terms)
    assert native().build_columns(table, INDEX_KEYS.labels, [None] * 65_537) is None


@given(st.integers(0, 255), st.lists(st.binary(max_size=80), max_size=9))
def test_labels(group: int, values: list[bytes]) -> None:
    """The labels of values are those of the twin."""
    expected = [label_of(INDEX_KEYS.labels, group, value) for value in values]
    assert native().labels(INDEX_KEYS.labels, group, values) == expected
