"""Proofs of an index of more than one chunk: segments of the highest level, and sets kept as bits."""

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
from tests.spec_facts import Document
from tests.spec_naive import chunk_bytes, dumps, index_leaves, tree_root

COUNT, SHOWN = 65_540, (5, 70, 65_535, 65_537, 65_539)
"""Ordinals; those of atoms that have the tag and the term, of which 70 is dead."""
WITNESSES, SETS, LIVES = 8, 1, 2


@cache
def wide() -> World:
    """What a long journal could lead to, without the journal, and without the atoms that nobody asks for."""
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
    """A proof of one claim, and its basis."""
    basis: Basis = ("root", STORE, wide().roots["overall"], None)
    return build([], basis, [claim], {0: wide()}), basis


@pytest.mark.parametrize("claim", [(c.TAGGED, b"rare", None, False), (c.TERM, b"rare", None, False)])
def test_lists_go_over_chunks(claim: Claim) -> None:
    """The ordinals of all chunks, and of them the live ones, in order."""
    data, basis = proof(claim)
    assert check(data, basis, [claim])[0]["ids"] == [atom_id(at) for at in SHOWN if at != 70]


@pytest.mark.parametrize(
    "claim", [(c.NONE_TAGGED, b"never", None, False), (c.NO_TERM, b"never", None, False)]
)
def test_nothing_is_shown_of_all_chunks(claim: Claim) -> None:
    """What no chunk has, nobody has."""
    data, basis = proof(claim)
    assert check(data, basis, [claim]) == [{"size": 0}]


def test_a_tag_is_looked_up_in_its_own_chunk() -> None:
    """The chunk's number is the upper half of the ordinal."""
    claim: Claim = (c.TAG, atom_id(65_537) + b"rare", None, False)
    data, basis = proof(claim)
    assert check(data, basis, [claim])[0]["ordinal"] == 65_537


def test_no_chunk_can_be_left_out() -> None:
    """Neither of a tag's sets nor of the live ones."""
    for claim, place in (((c.TAGGED, b"rare", None, False), SETS), ((c.TERM, b"rare", None, False), LIVES)):
        data, basis = proof(claim)
        other: Any = read(data)
        other[WITNESSES][0][place].pop()
        assert refused(write(other), basis, [claim]) == "list"
