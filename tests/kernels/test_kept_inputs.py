"""The inputs that guided fuzzing kept, because each reached other code of a kernel, show no difference."""

from __future__ import annotations

import pytest

from tests.kernels.fuzz.properties import kept, names, prepared
from tests.kernels.native import native
from tests.support.soak import FACTOR

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", names())
def test_kept_inputs_pass(name: str) -> None:
    """The property holds for every fourth, and in a long run for each.

    Another version of Hypothesis makes other examples of the same bytes.
    """
    native()
    check = prepared(name)
    for raw in kept(name)[:: 1 if FACTOR else 4]:
        check(raw)


def test_every_property_has_kept_inputs() -> None:
    """Each kernel has been fuzzed."""
    assert [name for name in names() if not kept(name)] == []
