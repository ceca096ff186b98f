"""The public names of `proofs`, and impossible sizes. What paths show is tested in tests/soundness."""

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


@pytest.mark.parametrize(("index", "size"), [(3, 3), (-1, 3), (0, 0), (0, 1 << 63), (True, 3), ("0", 3)])
def test_an_impossible_position_is_refused_as_input(index: object, size: object) -> None:
    """A position is a whole number below the size, which is below 2^63."""
    assert reason_of(check_inclusion, index, size, LEAVES[0], [], ROOT) == "input"


@pytest.mark.parametrize("old", [0, 4, -1, True])
def test_an_impossible_older_size_is_refused_as_input(old: object) -> None:
    """An older size is 1 to the size: every log begins with the empty one, so there is nothing to show."""
    assert reason_of(check_consistency, old, LEFT, 3, ROOT, [LEAVES[2]]) == "input"
