"""The tests detect the removal of any check, call, guard or sync in the verifier, commits and followers."""

from __future__ import annotations

import pytest

from tests.mutants.__main__ import GROUPS, survivors
from tests.mutants.argued import ARGUED
from tests.mutants.sites import sites

pytestmark = pytest.mark.slow


@pytest.mark.soak
@pytest.mark.parametrize("module", GROUPS)
def test_removing_anything_is_detected(module: str) -> None:
    """Each mutant is caught, or the table gives a reason why nothing has to catch it."""
    _, left = survivors([module])
    assert [name for _, name in left if name not in ARGUED.get(module, {})] == []


def test_argued_mutants_exist() -> None:
    """Each mutant in the table exists."""
    for module, reasons in ARGUED.items():
        assert set(reasons) <= {site.name for site in sites(module)}
