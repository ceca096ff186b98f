"""Both verifiers accept and refuse the paths of log.json as the file states."""

from __future__ import annotations

import pytest

from proofs.errors import ProofError
from proofs.log import Frontier, leaf_hash
from tests.reference import hashes
from tests.spec import spec_naive as naive
from tests.vectors import logs
from tests.vectors.load import Vector, read


def log_questions(name: str) -> list[Vector]:
    """Return the questions about logs with the values that the file leaves out."""
    make = logs.included if name == "inclusion" else logs.consistent
    second = "index" if name == "inclusion" else "old"
    return [make(one["size"], one[second]) for one in read("log")[name]]


def wrong_questions(name: str, whole: list[Vector]) -> list[tuple[Vector, str]]:
    """Return the questions that must be refused, with their reasons."""
    found = []
    for one in read("log")[name]:
        changed: Vector = {key: one[key] for key in ("size", "index", "old") if key in one}
        changed |= {key: bytes.fromhex(one[key]) for key in ("root", "leaf", "old_root") if key in one}
        if "path" in one:
            raw = bytes.fromhex(one["path"])
            changed["path"] = [raw[at : at + 32] for at in range(0, len(raw), 32)]
        found.append((whole[one["of"]] | changed, one["reason"]))
    return found


def test_roots_of_logs_are_those_of_their_entries() -> None:
    """The roots in the file follow from appending the entries and from the definition."""
    frontier, roots = Frontier(), dict(read("log")["roots"])
    for index in range(max(roots)):
        frontier.append(leaf_hash(logs.entry(index)))
        if frontier.size in roots:
            assert frontier.root().hex() == roots[frontier.size]
    for size in (one for one in roots if one < 300):
        assert naive.log_root([logs.entry(index) for index in range(size)]).hex() == roots[size]


def test_every_size_of_a_path_has_its_root() -> None:
    """The file has the root of each older and newer log, so that a reader need not compute roots."""
    found = read("log")
    sizes = {one["size"] for name in ("inclusion", "consistency") for one in found[name]}
    assert {size for size, _ in found["roots"]} == sizes | {one["old"] for one in found["consistency"]}


def inclusion_by_reference(question: Vector) -> bool:
    """Return True if the second verifier accepts the path."""
    index, size, leaf, path, root = (question[name] for name in ("index", "size", "leaf", "path", "root"))
    return bool(index < size < 1 << 63 and hashes.root_by_path(index, size, leaf, path) == root)


def consistency_by_reference(question: Vector) -> bool:
    """Return True if the second verifier accepts the path."""
    old, size, old_root, path = (question[name] for name in ("old", "size", "old_root", "path"))
    if not 1 <= old <= size < 1 << 63:
        return False
    return hashes.roots_by_path(old, size, old_root, path) == (old_root, question["root"])


@pytest.mark.parametrize("name", ["inclusion", "consistency"])
def test_paths_of_the_file_are_accepted(name: str) -> None:
    """The paths in the file are those of RFC 9162, and both verifiers accept them."""
    check = logs.check_included if name == "inclusion" else logs.check_consistent
    by_reference = inclusion_by_reference if name == "inclusion" else consistency_by_reference
    for listed, question in zip(read("log")[name], log_questions(name), strict=True):
        assert b"".join(question["path"]).hex() == listed["path"]
        check(question)
        assert by_reference(question)


@pytest.mark.parametrize(("name", "of"), [("not_included", "inclusion"), ("not_consistent", "consistency")])
def test_wrong_paths_are_refused(name: str, of: str) -> None:
    """Both verifiers refuse each wrong path. The project's verifier gives the reason in the file."""
    check = logs.check_included if of == "inclusion" else logs.check_consistent
    by_reference = inclusion_by_reference if of == "inclusion" else consistency_by_reference
    for question, reason in wrong_questions(name, log_questions(of)):
        with pytest.raises(ProofError) as why:
            check(question)
        assert why.value.reason == reason
        assert not by_reference(question)
