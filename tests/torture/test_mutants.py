"""The tests detect the removal of any check, call, guard or sync in the code that commits and follows."""

from __future__ import annotations

import ast

import pytest

from tests.torture.mutants import MODULES, mutated, sites, source_of
from tests.torture.survivors import ARGUED, survivors

pytestmark = pytest.mark.slow


@pytest.mark.soak
@pytest.mark.parametrize("module", MODULES)
def test_removing_anything_is_detected(module: str) -> None:
    """Each mutant is caught, or the table gives a reason why nothing has to catch it."""
    _, left = survivors([module])
    assert [name for _, name in left if name not in ARGUED.get(module, {})] == []


@pytest.mark.parametrize("module", MODULES)
def test_a_mutant_is_another_module(module: str) -> None:
    """Each mutation changes the module."""
    whole = ast.dump(ast.parse(source_of(module)))
    assert sites(module)
    for site in sites(module):
        assert ast.dump(mutated(module, site)) != whole, site


def test_argued_mutants_exist() -> None:
    """Each mutant in the table exists."""
    for module, reasons in ARGUED.items():
        assert set(reasons) <= {site.name for site in sites(module)}
