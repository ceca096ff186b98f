"""Damage to headers is reported as `journal`, and damage to the log state as `meta`."""

from __future__ import annotations

import pytest

from engine.ledger.layout import LOG, journal_key
from engine.trust.audit.verify import verify
from tests.support.engines import backend_of, copied_rows, engine_on, put_rows
from tests.support.workloads import commands

pytestmark = pytest.mark.slow

ENGINE = engine_on()
ENGINE.apply(commands(6))
ENGINE.catch_up()
STORE = backend_of(ENGINE)


@pytest.mark.parametrize("seq", [0, 3, ENGINE.size - 1])
def test_a_changed_byte_of_a_header_is_reported_as_journal(seq: int) -> None:
    """For any changed byte of a header, the first difference that is reported is in the journal."""
    raw = STORE.get(journal_key(seq))
    assert raw is not None
    for at in range(len(raw)):
        store = copied_rows(STORE)
        put_rows(store, {journal_key(seq): raw[:at] + bytes([raw[at] ^ 2]) + raw[at + 1 :]})
        report = verify(store)
        assert not report.ok
        assert report.differences[0].family == "journal", (at, report.differences[0])


def test_a_changed_byte_of_the_log_state_is_reported_as_meta() -> None:
    """A changed byte of the log state is reported as damage to `meta`, not to headers or other rows."""
    raw = STORE.get(LOG)
    assert raw is not None
    for at in range(len(raw)):
        store = copied_rows(STORE)
        put_rows(store, {LOG: raw[:at] + bytes([raw[at] ^ 2]) + raw[at + 1 :]})
        report = verify(store)
        assert not report.ok
        assert report.differences[0].family == "meta", (at, report.differences[0])
