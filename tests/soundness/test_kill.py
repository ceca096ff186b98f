"""Whether the other tests of this package would notice if a check of the verifier were gone."""

from __future__ import annotations

import ast

import pytest

from tests.soundness.kill import ARGUED, outcomes, table
from tests.soundness.mutants import MODULES, mutated, sites


@pytest.mark.soak
@pytest.mark.parametrize("module", MODULES)
def test_every_check_is_missed_when_it_is_gone(module: str) -> None:
    """Each check taken out in turn is noticed, or its place in the table says why it is not needed."""
    found = outcomes([module])
    assert [one.name for one in found if not one.caught and one.name not in ARGUED] == [], table(found)


def test_what_is_argued_is_there() -> None:
    """The table of checks that are not needed names none that is gone."""
    assert set(ARGUED) <= {site.name for module in MODULES for site in sites(module)}


@pytest.mark.parametrize("module", MODULES)
def test_a_mutant_is_another_module(module: str) -> None:
    """Taking out a check changes the module, and nothing but that check: each mutant is another one."""
    made = [ast.dump(mutated(module, site)) for site in sites(module)]
    assert len({*made, ast.dump(ast.parse(""))}) == len(made) + 1
