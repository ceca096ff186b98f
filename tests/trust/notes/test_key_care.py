"""A key that others may have is not used, none is ever shown, and what it signed is not forgotten unsaid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.base.errors import InconsistentError, InvalidInputError, RefusedError
from engine.trust.notes.files import read_file
from engine.trust.notes.signing import load_key, new_key
from tests.support.engines import copied_rows, engine_on
from tests.trust.notes.test_keys import key

__all__ = ["key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644, 0o666])
def test_a_key_that_others_may_have_is_not_used(key: Path, mode: int) -> None:
    """Neither group nor others may do anything with its file; nothing is journaled, and chmod mends it."""
    key.chmod(mode)
    with engine_on() as engine:
        with pytest.raises(RefusedError, match=f"its mode is {mode:04o}") as caught:
            engine.checkpoint_note(key=key)
        assert (engine.size, caught.value.hint.startswith(f"run `chmod 600 {key}`")) == (1, True)
        key.chmod(0o400)
        assert engine.checkpoint_note(key=key).signed


@pytest.mark.parametrize("use", [load_key, lambda path: new_key(path, "x"), lambda path: read_file(path, 9)])
def test_a_private_key_for_a_file_s_name_is_never_repeated(key: Path, use: Callable[[Path], object]) -> None:
    """Whoever gives the key in place of its file reads no character of it in the answer."""
    with pytest.raises(InvalidInputError, match=r"^this is a private key$"):
        use(Path(key.read_text()))


def test_the_first_signature_for_a_store_is_known_as_such(key: Path) -> None:
    """It is the first, as far as is known beside the key; that is all a lost record can be told by."""
    with engine_on() as engine:
        assert [engine.checkpoint_note(key=key).first for _ in "ab"] == [True, False]
        (kept,) = key.parent.glob("*.last")
        kept.unlink()
        assert engine.checkpoint_note(key=key).first
        assert not engine.checkpoint_note().first


def test_what_contradicts_a_signed_note_has_its_signature(key: Path) -> None:
    """The known side of the contradiction is the note as the key signed it."""
    with engine_on() as engine:
        before = copied_rows(engine.store.backend)
        note = engine.checkpoint_note(key=key).note
    with engine_on(before) as old, pytest.raises(InconsistentError) as caught:
        old.checkpoint_note(key=key)
    assert caught.value.known == note
