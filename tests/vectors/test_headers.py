"""Headers and bodies of the vectors are accepted or refused by the engine and by the second verifier."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.codec import decode_body, decode_header, encode_body, encode_header
from proofs.events import EventKind
from proofs.forms import FormError
from tests.reference import forms
from tests.reference.refused import Refused
from tests.vectors.load import read

pytestmark = pytest.mark.twins


def body_of(one: dict[str, Any]) -> bytes:
    """Return the bytes of a body."""
    last, often = bytes.fromhex(one.get("then", "")), int(one.get("times", 0))
    return bytes.fromhex(one["body"]) + last * often


@pytest.mark.parametrize("one", read("headers")["valid headers"], ids=lambda one: one["name"])
def test_a_canonical_header_is_accepted(one: dict[str, Any]) -> None:
    """Both readers accept the header, and the engine encodes it to the same bytes."""
    raw = bytes.fromhex(one["header"])
    seq = forms.header(raw)["seq"]
    assert encode_header(decode_header(raw, seq)) == raw


@pytest.mark.parametrize("one", read("headers")["invalid headers"], ids=lambda one: one["name"])
def test_another_header_is_refused(one: dict[str, Any]) -> None:
    """Both readers refuse the header, at whatever seq."""
    raw = bytes.fromhex(one["header"])
    with pytest.raises(Refused):
        forms.header(raw)
    for seq in (9, 1 << 53):
        with pytest.raises(FormError):
            decode_header(raw, seq)


@pytest.mark.parametrize("one", read("headers")["valid bodies"], ids=lambda one: one["name"])
def test_a_canonical_body_is_accepted(one: dict[str, Any]) -> None:
    """Both readers accept the body, and the engine encodes it to the same bytes."""
    raw = body_of(one)
    assert encode_body(decode_body(EventKind(one["kind"]), raw, "here")) == raw
    assert forms.body_of(forms.item_of(raw, "payload", True), one["kind"])


@pytest.mark.parametrize("one", read("headers")["invalid bodies"], ids=lambda one: one["name"])
def test_another_body_is_refused(one: dict[str, Any]) -> None:
    """Both readers refuse the body."""
    raw = body_of(one)
    with pytest.raises(FormError):
        decode_body(EventKind(one["kind"]), raw, "here")
    assert not forms.body_of(forms.item_of(raw, "payload", True), one["kind"])
