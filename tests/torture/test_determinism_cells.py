"""Any mixture of backend, process settings, batches and kernels gives the same root."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.base.native import NATIVE
from tests.torture.determinism import BACKENDS, BATCHES, DIFFERENT, FAILED, WAYS, cells, torture

pytestmark = pytest.mark.slow

CELLS = 6


@pytest.mark.parametrize("kernels", ["python", "native"])
def test_every_mixture_of_circumstances_gives_one_root(kernels: str, memory: Path) -> None:
    """Processes with other settings, backends, batches and kernels compute the root of this process."""
    if kernels == "native" and NATIVE is None:
        pytest.skip("NOT TESTED: the kernels are not compiled")
    if find_spec("plyvel") is None:
        pytest.skip("NOT TESTED: plyvel is not installed, so there is no LevelDB here")
    counts, told = torture(kernels, 0, CELLS, memory)
    assert counts["trials"] == CELLS
    assert (counts[DIFFERENT], counts[FAILED]) == (0, 0), told


def test_the_first_cells_have_every_backend_batch_and_way() -> None:
    """The cells are mixed, so that a few of them have each circumstance, and all of them are different."""
    every = list(cells("python"))
    assert len(every) == len(set(every))
    few = every[:CELLS]
    assert {cell.backend for cell in few} == set(BACKENDS)
    assert {cell.batch for cell in few} >= set(BATCHES[:2])
    assert len({cell.way for cell in few}) >= len(WAYS) - 1
