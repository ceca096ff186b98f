"""Taking a step out of the comparison of texts is noticed: each mutant breaks one of a few examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from engine.commands import alignment, words
from tests.support.mutated_import import import_beside

OAK = "The oak beside the gate was planted in the year of the flood."
ASH = "An ash grows faster than most people think, above all in wet ground."


def mutant(module: ModuleType, old: str, new: str) -> ModuleType:
    """Return a copy of a module in which one piece of its source is replaced."""
    assert module.__file__ is not None
    source = Path(module.__file__).read_text()
    assert source.count(old) == 1
    return import_beside(f"{module.__name__}_mutant", Path(module.__file__), source.replace(old, new))


def copies_keep_their_place(module: ModuleType) -> bool:
    """Return True if a copy that is added above a text does not take its place."""
    known = [module.Passage(ASH, None), module.Passage(OAK, None)]
    wanted = [module.Passage(text, None) for text in (OAK, ASH, OAK)]
    return bool(module.align(known, wanted) == [None, 0, 1])


def present_texts_come_first(module: ModuleType) -> bool:
    """Return True if a text that the file still had is used before one that it had lost."""
    known = [module.Passage(OAK, None, False), module.Passage(OAK, None)]
    return bool(module.align(known, [module.Passage(OAK, None)] * 3) == [1, 0, None])


def similar_texts_are_found(module: ModuleType) -> bool:
    """Return True if the index finds a text with one other word, and no different text."""
    texts = [Counter(text.split()) for text in (ASH, OAK)]
    index = module.WordIndex(texts, 0.75)
    found = [at for _, at in index.similar(Counter(OAK.replace("gate", "well").split()))]
    return found == [1] and list(index.similar(Counter(["none"]))) == []


@pytest.mark.parametrize(
    ("module", "old", "new", "holds"),
    [
        (alignment, "_pair(gap_olds, gap_news, recorded, wanted, partners)", "pass", copies_keep_their_place),
        (alignment, "key=lambda index: not recorded[index].is_present", "key=int", present_texts_come_first),
        (words, "if score >= self._least:", "if score > 1:", similar_texts_are_found),
        (words, "if spare <= 0:", "if True:", similar_texts_are_found),
    ],
)
def test_a_mutant_is_noticed(
    module: ModuleType, old: str, new: str, holds: Callable[[ModuleType], bool]
) -> None:
    """The example holds for the module, and does not hold for the mutant."""
    assert holds(module)
    assert not holds(mutant(module, old, new))
