"""A conversion of a sealed store that is killed leaves the earlier store or the new one, whole."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from backends import open_backend
from backends.base import Backend, Batch, Row
from backends.errors import BackendLocked, BackendUnusable
from backends.sealed.seal import Header, Seal
from backends.sealed.sealed_backend import SealedBackend, reseal
from tests.support.leveldb import LEVELDB
from tests.support.sealed import SEAL
from tests.support.soak import often
from tests.torture.calls import why_not
from tests.torture.injected import CALLS, Fault, calls_of, run

pytestmark = pytest.mark.slow

OTHER: Final = Seal.new({})
OLD_SLOT, NEW_SLOT = b"the slot that is replaced", b"the slot that replaces it"
SECRET: Final = b"quokka"
ROWS: Final[list[Row]] = [(b"%03d" % number, SECRET * (number + 1)) for number in range(40)]


def slotted(slot: bytes) -> Header:
    """The header of SEAL with one slot."""
    return replace(SEAL.header, slots={"passphrase": slot})


def change(backend: Backend) -> None:
    """Replace the only slot."""
    assert isinstance(backend, SealedBackend)
    backend.set_header(slotted(NEW_SLOT))


ACTS: Final[dict[str, tuple[Seal | None, Seal | None, Callable[[Backend], object]]]] = {
    "seal": (None, SEAL, lambda backend: reseal(backend, SEAL)),
    "unseal": (SEAL, None, lambda backend: reseal(backend, None)),
    "rotate": (SEAL, OTHER, lambda backend: reseal(backend, OTHER)),
    "change": (SEAL, SEAL, change),
}
"""Name → the key before, the key after, and what is done."""


def state(url: str, key: Seal | None) -> list[Row] | None:
    """Return the rows of the store under this key, or None if it has another key."""
    try:
        with open_backend(url, create=False, key=key) as backend:
            return list(backend.scan())
    except (BackendLocked, BackendUnusable):
        return None


@pytest.mark.parametrize("wanted", often(6, 1000))
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_a_killed_conversion_leaves_one_whole_store_and_nothing_readable(
    scheme: str, act: str, wanted: int, memory: Path
) -> None:
    """After a kill at a system call one key opens all rows; with a key, no file has a text or an old slot."""
    if reason := why_not():
        pytest.skip(reason)
    before, after, do = ACTS[act]
    start, place = memory / f"{scheme}-{act}-{wanted}-start", memory / f"{scheme}-{act}-{wanted}"
    with open_backend(f"{scheme}:{start}/store", key=before and before.with_header(slotted(OLD_SLOT))) as new:
        batch = Batch()
        batch.rows |= dict(ROWS)
        new.write(batch)
    url = f"{scheme}:{place}/store"

    def convert(_: object) -> None:
        with open_backend(url, key=before) as backend:
            do(backend)

    shutil.copytree(start, place)
    convert(None)  # loads the modules
    shutil.rmtree(place)
    shutil.copytree(start, place)
    calls = calls_of(convert, memory / "log")
    every = [Fault(call, number, "SIGKILL") for call in CALLS for number in range(1, calls[call] + 1)]
    seen: Counter[bool] = Counter()
    for fault in every[:: max(1, len(every) // wanted)]:
        shutil.rmtree(place)
        shutil.copytree(start, place)
        run(convert, ("-e", f"trace={fault.call}", "-e", fault.option))
        states = {key: rows for key in {before, after} if (rows := state(url, key)) is not None}
        assert list(states.values()) == [ROWS], fault
        (key,) = states
        files = b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
        assert (SECRET in files) == (key is None), fault
        slot = slotted(NEW_SLOT).encode() in files
        seen[slot if act == "change" else key is after] += 1
        assert not (slot and OLD_SLOT.hex().encode() in files), fault
    assert set(seen) == {False, True}
