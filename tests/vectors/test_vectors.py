"""The project's code and the code that was written from SPEC.md alone agree with the test vectors."""

from __future__ import annotations

import cbor2
import pytest

from proofs.claim_words import parse_claim
from proofs.errors import REASONS
from proofs.events import FACT_KINDS, EventKind
from proofs.hashing import position, value_digest
from proofs.smt import root_of
from proofs.verifier import examine
from tests.reference import hashes
from tests.reference.both import ask, real_basis, real_claim, same
from tests.spec import spec_naive as naive
from tests.vectors.load import basis_of, claims_of, invalid_proofs, read
from tests.vectors.make import FILES, FOLDER, dumped
from tests.vectors.shown import shown

pytestmark = pytest.mark.slow

BYTES_MAX = 3_400_000


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] * (name == "proofs.json")) for name in FILES]
)
def test_the_script_makes_the_files_again(name: str) -> None:
    """The script makes each file again with the same bytes."""
    assert dumped(FILES[name]()) == (FOLDER / name).read_bytes()


def test_files_are_few_and_small() -> None:
    """The folder contains only the files that the script makes, and together they are small."""
    found = sorted(FOLDER.glob("*.json"))
    assert {path.name for path in found} == set(FILES)
    assert sum(path.stat().st_size for path in found) < BYTES_MAX


def test_files_cover_all_claims_and_reasons() -> None:
    """The files have at least 50 trees, 200 valid and 1,000 invalid proofs, of all claims and reasons."""
    trees, proofs = read("trees"), read("proofs")
    assert len(trees["keys"]) + len(trees["digests"]) >= 50
    assert len(proofs["valid"]) >= 200
    assert len(proofs["invalid"]) >= 1000
    asked = {(one["basis"]["kind"], claim["number"]) for one in proofs["valid"] for claim in one["claims"]}
    assert asked == {(kind, number) for kind in ("root", "log") for number in range(1, 18)}
    files = (proofs["invalid"], read("notes")["invalid"], read("log")["not_included"])
    # No vector has the reason `origin`: a note may have any origin.
    assert {one["reason"] for some in files for one in some} == set(REASONS) - {"origin"}
    kinds = {EventKind[one["kind"].upper()] for one in read("journal")["events"]}
    assert kinds - FACT_KINDS == set(EventKind) - FACT_KINDS
    assert kinds & FACT_KINDS


def test_absence_is_proved_beside_chunks_and_rows_of_dead_atoms() -> None:
    """The file has a proof of `none-tagged` that shows a chunk, and a proof of `no-term` that shows a row."""
    shown = set()
    for vector in read("proofs")["valid"]:
        for number, *rest in cbor2.loads(bytes.fromhex(vector["proof"]))[9]:
            if number == 8 and any(entry is not None for entry in rest[0]):
                shown.add("chunk")
            if number == 10 and any(type(entry[1]) is bytes for entry in rest[0]):
                shown.add("row")
    assert shown == {"chunk", "row"}


def unhex(rows: list[list[str]]) -> list[list[bytes]]:
    """Return rows of hex strings as bytes."""
    return [[bytes.fromhex(cell) for cell in row] for row in rows]


def test_trees_of_keys_have_their_digests_and_roots() -> None:
    """The project's code and the rules of SPEC compute the key digests and roots in the file."""
    for tree in read("trees")["keys"]:
        namespace, rows = tree["namespace"], unhex(tree["leaves"])
        assert all(position(namespace, key) == digest for key, _, digest in rows)
        leaves = {digest: value_digest(namespace, value) for _, value, digest in rows}
        assert root_of(leaves).hex() == tree["root"]
        assert naive.tree_root(namespace, {key: value for key, value, _ in rows}).hex() == tree["root"]
        assert hashes.tree_root(list(leaves.items())).hex() == tree["root"]


def test_trees_of_digests_have_their_roots() -> None:
    """The project's code and the rules of SPEC compute the roots of given digests in the file."""
    for tree in read("trees")["digests"]:
        pairs = [(key, value) for key, value in unhex(tree["leaves"])]
        assert root_of(dict(pairs)).hex() == tree["root"]
        assert naive.subtree(pairs, 0).hex() == tree["root"]
        assert hashes.tree_root(pairs).hex() == tree["root"]


def test_valid_proofs_show_the_facts_in_the_file() -> None:
    """Both verifiers accept each valid proof and show the facts in the file."""
    for vector in read("proofs")["valid"]:
        data, basis = bytes.fromhex(vector["proof"]), basis_of(vector["basis"])
        claims = claims_of(vector["claims"])
        answers = ask(data, basis, claims)
        assert not isinstance(answers.real, str), (vector["number"], answers.real)
        assert not isinstance(answers.reference, str), (vector["number"], answers.reference)
        assert all(map(same, answers.real, answers.reference)), vector["number"]
        assert [shown(fact) for fact in answers.real] == vector["shown"], vector["number"]
        found = examine(data, real_basis(basis), [real_claim(*claim) for claim in claims])
        assert found.size == vector["size"]


def test_words_of_valid_proofs_are_their_claims() -> None:
    """The words of each claim in the file are parsed to the claim's number, subject, state and opening."""
    for vector in read("proofs")["valid"]:
        for one, claim in zip(vector["claims"], claims_of(vector["claims"]), strict=True):
            assert parse_claim(one["words"]) == real_claim(*claim)


def test_invalid_proofs_are_refused() -> None:
    """Both verifiers refuse each invalid proof for the reason in the file."""
    for vector, data in invalid_proofs():
        answers = ask(data, basis_of(vector["basis"]), claims_of(vector["claims"]))
        assert answers == (vector["reason"], vector["reason"]), vector
