"""Tests of the log's tree: RFC 6962 roots, and a frontier that always agrees with the definition."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.log import EMPTY_ROOT, SIZE_MAX, Frontier, leaf_hash, node_hash, root_of
from tests.ledger.support import digests
from tests.support.shared_data import needs

# The eight leaves of the reference tests of Certificate Transparency, which the vectors below use.
LEAVES = [
    leaf_hash(bytes.fromhex(text))
    for text in [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ]
]


def frontier_of(leaves: list[bytes]) -> Frontier:
    """Return a frontier to which `leaves` were appended."""
    frontier = Frontier()
    frontier.extend(leaves)
    return frontier


def public_roots() -> dict[int, bytes]:
    """Return size → root over the first leaves, for the sizes that valid public proofs name."""
    folder = needs("vectors/rfc6962/transparency-dev")
    roots: dict[int, bytes] = {}
    for path in sorted(folder.glob("inclusion/*/happy-path.json")):
        case = json.loads(path.read_text())
        roots[case["treeSize"]] = base64.b64decode(case["root"])
    for path in sorted(folder.glob("consistency/*/happy-path.json")):
        case = json.loads(path.read_text())
        roots[case["size1"]] = base64.b64decode(case["root1"])
        roots[case["size2"]] = base64.b64decode(case["root2"])
    return roots


def test_roots_are_those_of_the_public_vectors() -> None:
    """Both ways of computing return each root in the RFC 6962 vectors (sizes 1 to 8 except 4)."""
    roots = public_roots()
    ours = {size: (root_of(LEAVES[:size]), frontier_of(LEAVES[:size]).root()) for size in roots}
    assert set(roots) == {1, 2, 3, 5, 6, 7, 8}
    assert ours == {size: (root, root) for size, root in roots.items()}


def test_a_log_of_one_leaf_has_that_leaf_for_its_root() -> None:
    """A log of one leaf has the leaf hash of its data as its root (a Fuel vector)."""
    vectors = json.loads(needs("vectors/rfc6962/fuel-binary/binary_merkle_proofs.json").read_text())[
        "vectors"
    ]
    case = next(case for case in vectors if case["name"] == "Test 1 Leaf Index 0")
    leaf = leaf_hash(bytes.fromhex(case["data"]["value"]))
    assert frontier_of([leaf]).root() == root_of([leaf]) == bytes.fromhex(case["root"]["value"])


def test_the_empty_log_has_the_hash_of_nothing_for_its_root() -> None:
    """The root of the empty log is the hash of no bytes: MTH({}) = SHA-256() (RFC 6962, section 2.1)."""
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert Frontier().root() == root_of([]) == EMPTY_ROOT == bytes.fromhex(empty)


def test_a_frontier_agrees_with_the_definition_at_every_size() -> None:
    """After each of 300 appends, root and size are those of the reference."""
    leaves = [leaf_hash(bytes([at % 256, at >> 8])) for at in range(300)]
    frontier = Frontier()
    different = []
    for size in range(301):
        if (frontier.root(), frontier.size) != (root_of(leaves[:size]), size):
            different.append(size)
        if size < 300:
            frontier.append(leaves[size])
    assert different == []


def test_a_stored_frontier_goes_on_as_if_it_had_not_been_stored() -> None:
    """At every size to 300, storing and loading a frontier changes neither its bytes nor its later roots."""
    frontier = Frontier()
    different = []
    for size in range(301):
        loaded = Frontier.from_bytes(frontier.to_bytes())
        same = loaded == frontier and loaded.to_bytes() == frontier.to_bytes()
        leaf = leaf_hash(bytes([size % 256]))
        frontier.append(leaf)
        loaded.append(leaf)
        if not same or loaded.root() != frontier.root():
            different.append(size)
    assert different == []


@given(st.lists(digests, max_size=70), st.integers(0, 70))
def test_where_a_history_is_cut_does_not_show(leaves: list[bytes], cut: int) -> None:
    """Appending in two parts, with the frontier stored between, gives the same bytes as appending in one."""
    frontier = Frontier.from_bytes(frontier_of(leaves[:cut]).to_bytes())
    frontier.extend(leaves[cut:])
    assert frontier.to_bytes() == frontier_of(leaves).to_bytes()


def test_a_frontier_holds_its_size_and_its_perfect_subtrees() -> None:
    """A frontier of size 5 is eight bytes of size, the root over four leaves, and the fifth leaf."""
    expected = (5).to_bytes(8, "big") + root_of(LEAVES[:4]) + LEAVES[4]
    assert frontier_of(LEAVES[:5]).to_bytes() == expected


@given(st.integers(0, (1 << 64) - 1), st.integers(0, 70), st.integers(0, 31))
def test_only_the_length_that_the_size_demands_is_accepted(size: int, hashes: int, extra: int) -> None:
    """A stored frontier needs exactly one hash for each 1 bit of a size below 2^63."""
    data = size.to_bytes(8, "big") + bytes(32 * hashes + extra)
    if size <= SIZE_MAX and hashes == size.bit_count() and not extra:
        assert Frontier.from_bytes(data).to_bytes() == data
    else:
        with pytest.raises(ValueError, match=r"frontier|leaves"):
            Frontier.from_bytes(data)


@pytest.mark.parametrize(
    "data", [b"", bytes(7), bytes(9), b"\x00" * 7 + b"\x01", b"\xff" * 8 + bytes(32 * 64)]
)
def test_a_cut_or_padded_frontier_is_refused(data: bytes) -> None:
    """A frontier that is too short or too long for its size, or larger than any log, is refused."""
    with pytest.raises(ValueError, match=r"frontier|leaves"):
        Frontier.from_bytes(data)


@pytest.mark.parametrize("width", [0, 31, 33, 64])
def test_a_leaf_of_another_width_is_refused_and_changes_nothing(width: int) -> None:
    """A leaf that is not a leaf hash is refused, and leaves the frontier unchanged."""
    frontier = frontier_of(LEAVES[:3])
    with pytest.raises(ValueError, match="32 bytes"):
        frontier.append(bytes(width))
    assert frontier == frontier_of(LEAVES[:3])


def test_a_full_log_takes_no_more() -> None:
    """A log of 2^63 - 1 leaves refuses another leaf."""
    full = Frontier.from_bytes(SIZE_MAX.to_bytes(8, "big") + bytes(32 * 63))
    with pytest.raises(ValueError, match="at most"):
        full.append(bytes(32))


@pytest.mark.parametrize("sides", [(b"", bytes(32)), (bytes(31), bytes(33)), (bytes(32), bytes(33))])
def test_a_node_of_other_widths_is_refused(sides: tuple[bytes, bytes]) -> None:
    """A node of anything but two hashes of 32 bytes is refused."""
    with pytest.raises(ValueError, match="32 bytes each"):
        node_hash(*sides)


def test_the_reference_refuses_what_is_not_a_leaf_hash() -> None:
    """`root_of` accepts only hashes of 32 bytes."""
    with pytest.raises(ValueError, match="32 bytes"):
        root_of([LEAVES[0], b"header"])


def test_a_copy_is_on_its_own() -> None:
    """Appending to a copy does not change the original."""
    original = frontier_of(LEAVES[:6])
    original.copy().extend(LEAVES[6:])
    assert original == frontier_of(LEAVES[:6])


def test_a_frontier_equals_nothing_but_a_frontier() -> None:
    """A frontier compared with its own bytes is unequal, without an error."""
    frontier = frontier_of(LEAVES)
    assert frontier != frontier.to_bytes()


def test_a_frontier_cannot_be_hashed() -> None:
    """A frontier cannot be a dictionary key, because it changes in place."""
    with pytest.raises(TypeError):
        hash(Frontier())
