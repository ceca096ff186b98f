"""The second verifier checks lists over several chunks, segments of the highest level, and dense chunks."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.reference import claims as c
from tests.reference.build import build
from tests.reference.cases import refused
from tests.reference.cbor import read, write
from tests.reference.claims import Basis, Claim
from tests.reference.hashes import NAMESPACES, overall
from tests.reference.journals import STOP, STORE, atom_id
from tests.reference.state import LIVE, TAGGED, set_row
from tests.reference.verifier import check
from tests.reference.world import World
from tests.spec.spec_facts import Document
from tests.spec.spec_naive import chunk_bytes, dumps, index_leaves, tree_root

pytestmark = pytest.mark.slow

COUNT, SHOWN = 65_540, (5, 70, 65_535, 65_537, 65_539)
"""The number of ordinals, and the ordinals of the atoms with the tag and the term. Atom 70 is tombstoned."""
WITNESSES, SETS, LIVES = 8, 1, 2


@cache
def wide() -> World:
    """Return the values of a long journal. The journal and the atoms that no claim is about are left out."""
    values = {atom_id(at): [0 if at != 70 else 1, at, 1, 1, 1, 1, bytes(32)] for at in SHOWN}
    plain, rare = Document(["word"], [], (0, 0, 0, 0)), Document(["rare"], [], (0, 0, 0, 0))
    documents = [rare if at in SHOWN else plain for at in range(COUNT)]
    tags: dict[bytes, bytes] = {}
    for number, width in ((0, 65_536), (1, COUNT - 65_536)):
        own = [at & 0xFFFF for at in SHOWN if at >> 16 == number]
        alive = [at for at in range(width) if at != 70]
        tags |= {set_row(TAGGED, b"rare", number): chunk_bytes(own)}
        tags |= {set_row(LIVE, b"", number): chunk_bytes(alive)}
    leaves = {"atoms": {key: dumps(value) for key, value in values.items()}, "edges": {}, "tags": tags}
    roots = {name: tree_root(name, found) for name, found in leaves.items()} | {"log": bytes(32)}
    roots["index"] = tree_root("index", index_leaves(documents, STOP))
    roots["overall"] = overall(STORE, 0, bytes(32), [roots[name] for name in NAMESPACES])
    events: list[tuple[list[Any], list[Any]]] = [
        ([1, 1, 1, 5, "", b"", None, atom_id(at), at, None], [["rare"]]) for at in SHOWN
    ]
    ids = {at: atom_id(at) for at in SHOWN}
    return World([], events, {"atoms": values, "edges": {}}, roots, leaves, ids, documents, STOP)


@cache
def proof(claim: Claim) -> tuple[bytes, Basis]:
    """Return a proof of one claim, and its basis."""
    basis: Basis = ("root", STORE, wide().roots["overall"], None)
    return build([], basis, [claim], {0: wide()}), basis


@pytest.mark.parametrize("claim", [(c.TAGGED, b"rare", None, False), (c.TERM, b"rare", None, False)])
def test_lists_span_chunks(claim: Claim) -> None:
    """A list contains the live ordinals of all chunks, in order."""
    data, basis = proof(claim)
    assert check(data, basis, [claim])[0]["ids"] == [atom_id(at) for at in SHOWN if at != 70]


@pytest.mark.parametrize(
    "claim", [(c.NONE_TAGGED, b"never", None, False), (c.NO_TERM, b"never", None, False)]
)
def test_absence_is_shown_for_all_chunks(claim: Claim) -> None:
    """A tag or term that no chunk has is shown to be unused."""
    data, basis = proof(claim)
    assert check(data, basis, [claim]) == [{"size": 0}]


def test_a_tag_is_looked_up_in_its_own_chunk() -> None:
    """The number of an atom's chunk is the upper half of its ordinal."""
    claim: Claim = (c.TAG, atom_id(65_537) + b"rare", None, False)
    data, basis = proof(claim)
    assert check(data, basis, [claim])[0]["ordinal"] == 65_537


def test_no_chunk_can_be_left_out() -> None:
    """A proof without one of the tag's chunks or live chunks is refused."""
    for claim, place in (((c.TAGGED, b"rare", None, False), SETS), ((c.TERM, b"rare", None, False), LIVES)):
        data, basis = proof(claim)
        other: Any = read(data)
        other[WITNESSES][0][place].pop()
        assert refused(write(other), basis, [claim]) == "list"
