"""Write the test vectors: `python -m tests.vectors.make`. Each run writes the same bytes. See README.md."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from proofs.claim_words import words_of
from proofs.verifier import examine
from tests.reference import claims as c
from tests.reference.both import real_basis, real_claim
from tests.reference.claims import Basis, Claim
from tests.vectors.edits import Edit
from tests.vectors.example import example
from tests.vectors.facts import facts
from tests.vectors.golden import journal
from tests.vectors.headers import headers
from tests.vectors.invalid import Invalid, invalid
from tests.vectors.logs import logs
from tests.vectors.notes import notes
from tests.vectors.shown import shown
from tests.vectors.trees import trees
from tests.vectors.valid import Valid, valid

FOLDER: Final = Path(__file__).parent


def proofs() -> dict[str, Any]:
    """Return the contents of `proofs.json`."""
    return {
        "valid": [accepted(n, one) for n, one in enumerate(valid())],
        "invalid": [refused(one) for one in invalid()],
    }


def accepted(n: int, one: Valid) -> dict[str, Any]:
    """Return a valid proof and the facts that it shows."""
    found = examine(one.data, real_basis(one.basis), one.real_claims)
    asked = {"basis": basis_of(one.basis), "claims": [claim_of(claim) for claim in one.claims]}
    return {
        "number": n,
        "store": one.store,
        **asked,
        "proof": one.data.hex(),
        "size": found.size,
        "shown": [shown(fact) for fact in found.facts],
    }


def refused(one: Invalid) -> dict[str, Any]:
    """Return an invalid proof without the fields that are equal in the valid proof it was made from."""
    of, found = valid()[one.of], {"of": one.of, "change": one.change, "reason": one.reason}
    if one.edits:
        found["edits"] = [edit_of(edit) for edit in one.edits]
    if one.basis != of.basis:
        found["basis"] = basis_of(one.basis)
    if one.claims != of.claims:
        found["claims"] = [claim_of(claim, said=False) for claim in one.claims]
    return found


def edit_of(edit: Edit) -> list[Any]:
    """Return [offset, length, hex] of an edit; long runs of one byte become this byte and a count."""
    offset, length, new = edit
    if len(new) > 256 and new[5:] == new[5:6] * (len(new) - 5):
        head, often = (new[:5], len(new) - 5) if new[:5] != new[5:6] * 5 else (b"", len(new))
        return [offset, length, head.hex(), new[5:6].hex(), often]
    return [offset, length, new.hex()]


def basis_of(basis: Basis) -> dict[str, Any]:
    """Return a basis as an object."""
    store_id, root, size = c.parts_of(basis)
    return {"kind": basis[0], "store": store_id.hex(), "size": size, "root": root.hex()}


def claim_of(claim: Claim, *, said: bool = True) -> dict[str, Any]:
    """Return a claim as an object. The object contains the claim in words, unless the claim is invalid."""
    number, subject, state, opened = claim
    found: dict[str, Any] = {"words": words_of(real_claim(*claim))} if said else {}
    found |= {"number": number, "subject": subject.hex()}
    if state is not None:
        found["state"] = state
    return found | {"opened": True} if opened else found


def dumped(vectors: dict[str, Any]) -> bytes:
    """Return JSON with one vector on each line."""
    lists = []
    for name, found in vectors.items():
        if isinstance(found, dict):
            lines = [f"  {json.dumps(key)}: {compact(value)}" for key, value in found.items()]
            lists.append(f'"{name}": {{\n' + ",\n".join(lines) + "\n}")
        else:
            lists.append(f'"{name}": [\n' + ",\n".join(f"  {compact(one)}" for one in found) + "\n]")
    return ("{\n" + ",\n".join(lists) + "\n}\n").encode("ascii")


def compact(value: object) -> str:
    """Return ASCII JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


FILES: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "example.json": example,
    "facts.json": facts,
    "trees.json": trees,
    "proofs.json": proofs,
    "log.json": logs,
    "notes.json": notes,
    "journal.json": journal,
    "headers.json": headers,
}
"""The function that makes the contents of each file."""


def main() -> None:
    """Write the files that the arguments name, or all."""
    for name in sys.argv[1:] or FILES:
        (FOLDER / name).write_bytes(dumped(FILES[name]()))


if __name__ == "__main__":
    main()
