"""The files, read."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tests.vectors.make import FOLDER

Vector = dict[str, Any]


@cache
def read(name: str) -> dict[str, Any]:
    """What is in a file."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_bytes())
    return found
