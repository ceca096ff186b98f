"""Running the standalone verifier in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from proofs import __main__ as standalone
from tests.support.command_line import Cli


def trust(store: Cli) -> list[str]:
    """Return the options that name the present root."""
    status = store("status", "--json").data
    return ["--root", store("root").out.strip(), "--store-id", status["store_id"]]


def as_standalone(options: Sequence[str]) -> list[str]:
    """Return the same options for `python -m proofs`."""
    return ["--store" if word == "--store-id" else word for word in options]


def alone(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    """Return exit code and answer of `python -m proofs verify`, run in this process."""
    capsys.readouterr()
    code = standalone.main(["verify", *words])
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.isprintable() or set(filter(lambda char: not char.isprintable(), out)) == {"\n"}
    return code, json.loads(out)
