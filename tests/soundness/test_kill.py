"""The tests of this package detect the removal of any check of the verifier."""

from __future__ import annotations

import ast

import pytest

from tests.soundness.kill import ARGUED, outcomes, table
from tests.soundness.mutants import MODULES, mutated, sites

pytestmark = pytest.mark.slow


@pytest.mark.soak
@pytest.mark.parametrize("module", MODULES)
def test_removing_any_check_is_detected(module: str) -> None:
    """Each removed check is detected, or the table gives a reason why it is not needed."""
    found = outcomes([module])
    assert [one.name for one in found if not one.caught and one.name not in ARGUED] == [], table(found)


def test_argued_checks_exist() -> None:
    """Each check in the table of checks that are not needed exists."""
    assert set(ARGUED) <= {site.name for module in MODULES for site in sites(module)}


@pytest.mark.parametrize("module", MODULES)
def test_a_mutant_is_another_module(module: str) -> None:
    """Removing a check changes the module, and no two mutants are equal."""
    made = [ast.dump(mutated(module, site)) for site in sites(module)]
    assert len({*made, ast.dump(ast.parse(""))}) == len(made) + 1
