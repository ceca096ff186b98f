"""`node tests/javascript/verify.mjs`, as docs/proofs.md says to run it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cbor2
import pytest

from engine.engine import Engine
from proofs import ProofError, check_envelope
from proofs.claim_words import parse_claim
from proofs.envelope import BEGINNING
from tests.javascript.node import COMMAND, needs_node
from tests.support.engines import engine_on
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"
ATOM = "1f0c0000-0000-4000-8000-000000000001"
MISSING, REFUSED, USAGE = 3, 4, 2


class Kept(NamedTuple):
    """What the other side has: proofs in files, and what it trusts."""

    folder: Path
    root: str
    store_id: str

    @property
    def trust(self) -> list[str]:
        """The options that name the root."""
        return ["--root", self.root, "--store-id", self.store_id]

    def verify(self, *words: str) -> tuple[int, Any]:
        """Return the exit code and the answer of the command."""
        done = subprocess.run(
            [needs_node(), str(COMMAND), *words],
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.stderr == ""
        return done.returncode, json.loads(done.stdout)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """A proof of an atom against the root, and one of a tag without atoms against a checkpoint note."""
    with engine_on() as engine:
        engine.add("The kettle is descaled on Mondays.", id=ATOM, tags=["heating"])
        engine.add("Ms Okafor services the boiler.", id=id_of(2))
        note = engine.checkpoint_note().note
        made(engine, tmp_path / "atom.proof", "atom", ATOM)
        claims = [["atom", ATOM], ["tagged", "heating"]]
        (tmp_path / "root.memproof").write_bytes(engine.prove(claims).envelope())
        (tmp_path / "kept.checkpoint").write_text(note, encoding="utf-8")
        made(engine, tmp_path / "tag.proof", "none-tagged", "kitchen", checkpoint=note)
        (tmp_path / "note.memproof").write_bytes(engine.prove(claims, checkpoint=note).envelope())
        return Kept(tmp_path, engine.root().root, engine.status().store_id)


def made(engine: Engine, path: Path, *words: str, checkpoint: str | None = None) -> None:
    """Write a proof of one claim to a file."""
    path.write_bytes(engine.prove([parse_claim(words)], checkpoint=checkpoint).data)


def documented() -> list[list[str]]:
    """Return the commands of the page, without `node` and the path of the program."""
    lines = re.findall(
        rf"^\$ node tests/javascript/{COMMAND.name} (.*)$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return [line.split() for line in lines]


def test_the_commands_of_the_page_show_their_claims(kept: Kept) -> None:
    """With what stands for FILE, HEX, ID and NOTE put in, each command of docs/proofs.md verifies a proof."""
    alone, by_root, by_note = documented()
    given = {"FILE": "root.memproof"}
    assert kept.verify(*(given.get(word, word) for word in alone))[0] == 0
    given = {"FILE": "atom.proof", "HEX": kept.root, "ID": kept.store_id}
    code, answer = kept.verify(*(given.get(word, word) for word in by_root))
    assert code == 0
    assert answer["shown"][0]["body"]["content"] == "The kettle is descaled on Mondays."
    given = {"FILE": "tag.proof", "NOTE": "kept.checkpoint"}
    code, answer = kept.verify(*(given.get(word, word) for word in by_note))
    assert (code, answer["shown"]) == (0, [{"shows": "TagUnused", "ordinals": 2}])


def test_a_proof_of_something_else_is_refused(kept: Kept) -> None:
    """Exit code 4, and the reason."""
    code, answer = kept.verify("atom.proof", *kept.trust, "no-atom", ATOM)
    assert (code, answer["verified"], answer["reason"]) == (REFUSED, False, "kind")


@pytest.mark.parametrize(
    "words",
    [
        ["atom.proof"],
        ["atom.proof", "--root", "00" * 32, "atom", ATOM],
        ["atom.proof", "--checkpoint", "kept.checkpoint", "--size", "3", "atom", ATOM],
        ["atom.proof", "--checkpoint", "kept.checkpoint", "atom", "1f0c"],
        ["atom.proof", "--checkpoint", "kept.checkpoint", "--sizes", "3", "atom", ATOM],
        ["atom.proof", "--checkpoint", "kept.checkpoint", "toString", ATOM],
    ],
)
def test_what_is_no_question_is_wrong_usage(kept: Kept, words: list[str]) -> None:
    """Exit code 2."""
    assert kept.verify(*words)[0] == USAGE


def test_a_file_that_is_missing_is_named(kept: Kept) -> None:
    """Exit code 3, and the name of the file."""
    code, answer = kept.verify("other.proof", *kept.trust, "atom", ATOM)
    assert code == MISSING
    assert "other.proof" in answer["message"]


def changes(data: bytes) -> Iterator[bytes]:
    """Yield changed copies of an envelope: bytes, parts, lengths and encodings."""
    for at in range(0, len(data), 29):
        yield data[:at] + bytes([data[at] ^ 0x21]) + data[at + 1 :]
    yield data[:-1]
    yield data + b"\0"
    yield data.replace(b"\x70memroot-envelope", b"\x78\x10memroot-envelope", 1)
    whole = cbor2.loads(data)
    for place, part in ((1, 2), (2, bytes(15)), (3, None), (4, []), (4, ["tagged heating "]), (5, b"")):
        changed = [part if at == place else item for at, item in enumerate(whole)]
        yield cbor2.dumps(changed, canonical=True)
    for words in ("tagged Heating", "tagged  heating", "tagged heating\n", "event 0", whole[4][0]):
        yield cbor2.dumps([*whole[:4], [*whole[4][:1], words], whole[5]], canonical=True)


@pytest.mark.parametrize("name", ["root.memproof", "note.memproof"])
def test_an_envelope_is_verified_alone(kept: Kept, name: str) -> None:
    """The claims and what is trusted come from the file; a root that is given must be the one in it."""
    code, answer = kept.verify(name)
    assert (code, [one["shows"] for one in answer["shown"]]) == (0, ["LiveAtom", "AllTagged"])
    code, answer = kept.verify(name, "--root", "00" * 32, "--store-id", kept.store_id)
    assert (code, answer["reason"]) == (REFUSED, "root")


@pytest.mark.parametrize("name", ["root.memproof", "note.memproof"])
def test_envelopes_are_refused_for_the_same_reasons(kept: Kept, name: str) -> None:
    """The two verifiers refuse the same changed files, and give the same reason."""
    for data in changes((kept.folder / name).read_bytes()):
        with pytest.raises(ProofError) as refused:
            check_envelope(data)
        if not data.startswith(BEGINNING[:-1]):
            continue  # Read as a proof without an envelope, which needs more arguments.
        (kept.folder / "changed.memproof").write_bytes(data)
        code, answer = kept.verify("changed.memproof")
        assert (code, answer["reason"]) == (REFUSED, refused.value.reason)
