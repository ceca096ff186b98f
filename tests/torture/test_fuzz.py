"""Whatever bytes a decoder gets, it decodes or refuses them with its own errors, and soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.decoders import DECODERS, corpus, made, outcome
from tests.torture.fuzz import FOREIGN, SLOW, torture

CHANGES = 400


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_refuses_changed_bytes_with_its_own_errors(name: str, tmp_path: Path) -> None:
    """Changed examples are decoded or refused; kernel and twin of the atom record agree."""
    counts, told = torture(name, 1, CHANGES, tmp_path)
    assert counts["trials"] == CHANGES
    assert (counts[FOREIGN], counts[SLOW]) == (0, 0), told


@pytest.mark.parametrize("name", ["header", "body", "page", "manifest", "note", "export-event"])
def test_the_kept_examples_are_still_decoded(name: str) -> None:
    """The examples in the repository are valid, so changes of them reach far into a decoder."""
    assert corpus(name)
    assert {outcome(DECODERS[name], raw) for raw in corpus(name)} == {"decoded"}


def test_every_decoder_with_examples_is_fuzzed() -> None:
    """The examples belong to decoders that are fuzzed."""
    assert made().keys() <= DECODERS.keys()
