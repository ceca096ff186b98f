"""Loads the files of test vectors and converts them to the types of the reference verifier."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.reference.claims import Basis, Claim
from tests.vectors.edits import Edit, edited
from tests.vectors.make import FOLDER

Vector = dict[str, Any]


@cache
def read(name: str) -> dict[str, Any]:
    """Return the contents of a file."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_bytes())
    return found


def basis_of(given: Vector) -> Basis:
    """Convert a basis to the form that the reference verifier takes."""
    store_id, root = bytes.fromhex(given["store"]), bytes.fromhex(given["root"])
    if given["kind"] == "root":
        return "root", store_id, root, given["size"]
    return "log", store_id, given["size"], root


def claims_of(given: list[Vector]) -> list[Claim]:
    """Convert claims to the form that the reference verifier takes."""
    return [
        (one["number"], bytes.fromhex(one["subject"]), one.get("state"), one.get("opened", False))
        for one in given
    ]


def edits_of(given: list[list[Any]]) -> list[Edit]:
    """Convert edits, and write repeated bytes out."""
    found: list[Edit] = []
    for offset, length, new, *repeated in given:
        more = bytes.fromhex(repeated[0]) * repeated[1] if repeated else b""
        found.append((offset, length, bytes.fromhex(new) + more))
    return found


def invalid_proofs() -> Iterator[tuple[Vector, bytes]]:
    """Yield each invalid vector and its proof. Missing fields are taken over: the valid vector has them."""
    proofs = read("proofs")
    for vector in proofs["invalid"]:
        of = proofs["valid"][vector["of"]]
        yield of | vector, edited(bytes.fromhex(of["proof"]), edits_of(vector.get("edits", [])))
