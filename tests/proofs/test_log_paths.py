"""The public checks of paths in a log: what they accept, and the reason of each refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

import proofs
from proofs import ProofError, check_consistency, check_inclusion, leaf_hash
from proofs.log import node_hash

LEAVES = [leaf_hash(f"entry {n}".encode()) for n in range(3)]
LEFT = node_hash(LEAVES[0], LEAVES[1])
ROOT = node_hash(LEFT, LEAVES[2])
"""The root of the log of three entries."""
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "proofs.md"


def reason_of(check: object, *given: object) -> str:
    """Return the reason for which a check refuses."""
    assert callable(check)
    with pytest.raises(ProofError) as refused:
        check(*given)
    return refused.value.reason


def test_every_public_name_is_there_and_documented() -> None:
    """Each name of `proofs.__all__` can be imported and has a docstring; the list has each once."""
    assert len(set(proofs.__all__)) == len(proofs.__all__)
    for name in proofs.__all__:
        assert getattr(proofs, name).__doc__, name


@pytest.mark.parametrize("name", ["verify", "parse_claim", "check_inclusion", "check_consistency"])
def test_the_guide_names_the_public_functions(name: str) -> None:
    """docs/proofs.md shows each function in an example that is run."""
    assert f"{name}(" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("index", "path"), [(0, [LEAVES[1], LEAVES[2]]), (1, [LEAVES[0], LEAVES[2]]), (2, [LEFT])]
)
def test_each_entry_is_included_by_its_path(index: int, path: list[bytes]) -> None:
    """The path of an entry is accepted, and refused at every other position and for every other entry."""
    check_inclusion(index, 3, LEAVES[index], path, ROOT)
    for other in {0, 1, 2} - {index}:
        assert reason_of(check_inclusion, other, 3, LEAVES[index], path, ROOT) == "inclusion"
        assert reason_of(check_inclusion, index, 3, LEAVES[other], path, ROOT) == "inclusion"


def test_the_only_entry_of_a_log_has_an_empty_path() -> None:
    """The root of a log of one entry is its leaf, without any sibling."""
    check_inclusion(0, 1, LEAVES[0], [], LEAVES[0])
    assert reason_of(check_inclusion, 0, 1, LEAVES[0], [LEAVES[1]], LEAVES[0]) == "inclusion"


@pytest.mark.parametrize(("index", "size"), [(3, 3), (-1, 3), (0, 0), (0, 1 << 63), (True, 3), ("0", 3)])
def test_an_impossible_position_is_refused_as_input(index: object, size: object) -> None:
    """A position is a whole number below the size, which is below 2^63."""
    assert reason_of(check_inclusion, index, size, LEAVES[0], [], ROOT) == "input"


def test_hashes_of_another_width_are_refused() -> None:
    """A leaf, root or sibling that does not have 32 bytes is refused, whatever the rest is."""
    path = [LEAVES[1], LEAVES[2]]
    assert reason_of(check_inclusion, 0, 3, LEAVES[0][:31], path, ROOT) == "inclusion"
    assert reason_of(check_inclusion, 0, 3, LEAVES[0], [LEAVES[1] + b"\0", LEAVES[2]], ROOT) == "inclusion"
    assert reason_of(check_consistency, 2, LEFT, 3, ROOT[:31], [LEAVES[2]]) == "consistency"


@pytest.mark.parametrize(
    ("old", "root", "path"),
    [(1, LEAVES[0], [LEAVES[1], LEAVES[2]]), (2, LEFT, [LEAVES[2]]), (3, ROOT, [])],
)
def test_a_log_begins_with_each_of_its_earlier_sizes(old: int, root: bytes, path: list[bytes]) -> None:
    """The consistency path from each size is accepted; another older root is refused."""
    check_consistency(old, root, 3, ROOT, path)
    assert reason_of(check_consistency, old, LEAVES[1], 3, ROOT, path) == "consistency"


@pytest.mark.parametrize("old", [0, 4, -1, True])
def test_an_impossible_older_size_is_refused_as_input(old: object) -> None:
    """An older size is 1 to the size: every log begins with the empty one, so there is nothing to show."""
    assert reason_of(check_consistency, old, LEFT, 3, ROOT, [LEAVES[2]]) == "input"
