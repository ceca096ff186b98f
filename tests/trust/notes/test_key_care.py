"""Keys that others can access are not used, keys are never printed, and their signatures stay on record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.base.errors import InconsistentError, InvalidInputError, RefusedError
from engine.base.outside_files import read_file
from engine.trust.notes.signing import load_key, new_key
from tests.support.engines import copied_rows, engine_on
from tests.trust.notes.test_keys import key

__all__ = ["key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644, 0o666])
def test_a_key_that_others_may_have_is_not_used(key: Path, mode: int) -> None:
    """A key file with access for group or others is refused before an event is written, with a chmod hint."""
    key.chmod(mode)
    with engine_on() as engine:
        with pytest.raises(RefusedError, match=f"its mode is {mode:04o}") as caught:
            engine.checkpoint_note(key=key)
        assert (engine.size, caught.value.hint.startswith(f"run `chmod 600 {key}`")) == (1, True)
        key.chmod(0o400)
        assert engine.checkpoint_note(key=key).signed


@pytest.mark.parametrize("use", [load_key, lambda path: new_key(path, "x"), lambda path: read_file(path, 9)])
def test_a_private_key_for_a_file_s_name_is_never_repeated(key: Path, use: Callable[[Path], object]) -> None:
    """An error about a private key in place of its file's name does not repeat any part of the key."""
    with pytest.raises(InvalidInputError, match=r"^this is a private key$"):
        use(Path(key.read_text()))


def test_the_first_signature_for_a_store_is_known_as_such(key: Path) -> None:
    """`first` is True if no earlier note is on record beside the key, which also reveals a lost record."""
    with engine_on() as engine:
        assert [engine.checkpoint_note(key=key).first for _ in "ab"] == [True, False]
        (kept,) = key.parent.glob("*.last")
        kept.unlink()
        assert engine.checkpoint_note(key=key).first
        assert not engine.checkpoint_note().first


def test_what_contradicts_a_signed_note_has_its_signature(key: Path) -> None:
    """The evidence contains the known note with its signature."""
    with engine_on() as engine:
        before = copied_rows(engine.store.backend)
        note = engine.checkpoint_note(key=key).note
    with engine_on(before) as old, pytest.raises(InconsistentError) as caught:
        old.checkpoint_note(key=key)
    assert caught.value.known == note
