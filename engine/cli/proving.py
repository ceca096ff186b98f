"""Commands on proofs: prove, verify-proof."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import AsOf
from engine.cli.output import Line
from engine.cli.pages import command, new_app, running
from engine.cli.stores import line
from engine.cli.values import counted, moment
from engine.errors import InvalidInputError, VerificationError

if TYPE_CHECKING:
    from engine.proving.prover import Proof

app = new_app()

ClaimWords = Annotated[
    list[str] | None,
    typer.Argument(metavar="CLAIM", help="What is claimed, in words: see above.", show_default=False),
]
ClaimsFile = Annotated[
    str | None, typer.Option("--claims", metavar="LIST", help="A file with one claim on each line.")
]

CLAIMS_BYTES_MAX = 16 << 20


@command(
    app,
    "engine prove atom 1f0c -o kettle.proof",
    "engine prove no-term unicorn -o absent.proof",
    "engine prove --claims claims.txt --checkpoint at.note -o bundle.proof",
)
def prove(
    ctx: typer.Context,
    claim: ClaimWords = None,
    claims: ClaimsFile = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write the proof to this file.")
    ] = None,
    as_of: AsOf = None,
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="NOTE", help="Prove against this checkpoint, not the root."),
    ] = None,
) -> int:
    """Make a proof that somebody without the store can check.

    Claims: atom ID [STATE] [sealed], no-atom ID, edge SOURCE TYPE TARGET [STATE] [sealed], no-edge SOURCE
    TYPE TARGET, tag ID TAG, no-tag ID TAG, tagged TAG, none-tagged TAG, term WORD, no-term WORD, term =TERM,
    event SEQ [sealed], prefix SIZE ROOT, root ROOT, prefix-root ROOT [SIZE]. A STATE is live, tombstoned or
    erased. `sealed` leaves the content out. What is not so is refused. Prints how to verify the proof.
    """
    from engine.notes.files import PUBLIC, replace_file
    from engine.notes.trust import read_note

    session = running(ctx)
    if bool(claim) == (claims is not None):
        raise InvalidInputError("give one claim in words, or --claims with a file of them")
    lines = [claim] if claim else _lines(claims or "")
    note = None if checkpoint is None else read_note(checkpoint).checkpoint.text
    with session.engine() as engine:
        found = engine.prove(lines, as_of=moment(as_of), checkpoint=note)
    if claims is not None and not _is_whole(lines, found):
        session.out.note(f"to verify it, write the claims down whole, as they are shown, not as in {claims}")
    if found.replayed:
        session.out.note(f"{counted(found.replayed, 'event')} replayed: the store has changed since")
    if out is None:
        if sys.stdout.isatty():
            raise InvalidInputError("a proof is not for a terminal: name a file with --out")
        if not session.out.json:
            session.out.note(_how_to_verify(found, "FILE", claims, checkpoint))
            sys.stdout.buffer.write(found.data)
            return 0
    else:
        replace_file(Path(out), found.data, PUBLIC)
    return session.out.answer(_data(found, out), _report(found, out or "FILE", claims, checkpoint), count=1)


@command(
    app,
    "engine verify-proof absent.proof --root HEX --store-id ID no-term unicorn",
    "engine verify-proof bundle.proof --checkpoint at.note --claims claims.txt",
    name="verify-proof",
)
def verify_proof(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The proof.", show_default=False)],
    claim: ClaimWords = None,
    claims: ClaimsFile = None,
    root: Annotated[
        str | None, typer.Option("--root", metavar="HEX", help="The overall root that you trust.")
    ] = None,
    store_id: Annotated[
        str | None, typer.Option("--store-id", metavar="ID", help="The id of the store that it is of.")
    ] = None,
    size: Annotated[
        int | None, typer.Option("--size", min=0, metavar="N", help="How many events it covers, if you know.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="NOTE", help="The checkpoint you trust, instead of a root."),
    ] = None,
) -> int:
    """Check a proof against a root or checkpoint that you trust.

    No store is needed. Ids and terms are whole here, as `engine prove` prints them. Exit code 4: it does
    not show what you claim. `python -m proofs verify` does the same where only the package proofs, blake3
    and cbor2 are there.
    """
    from engine.notes.files import read_file
    from engine.notes.trust import read_note
    from proofs.asked import basis_of, claims_of, described
    from proofs.errors import ProofError
    from proofs.limits import BUNDLE_BYTES_MAX
    from proofs.note import format_note
    from proofs.shown import plain
    from proofs.verifier import examine

    session = running(ctx)
    note = None if checkpoint is None else format_note(read_note(checkpoint))
    listed = None if claims is None else read_file(claims, CLAIMS_BYTES_MAX)
    try:
        basis, wanted = basis_of(root, size, store_id, note), claims_of(claim or [], listed)
    except ProofError as error:
        raise InvalidInputError(str(error).partition(": ")[2]) from error
    try:
        facts, events = examine(read_file(file, BUNDLE_BYTES_MAX), basis, wanted)
    except ProofError as error:
        raise VerificationError(f"the proof does not show it: {error}") from error
    shown = [plain(one) for one in facts]
    text: list[Line] = [line("holds", one["claim"]) for one in shown]
    text.append(line("as of", counted(events, "event")))
    return session.out.answer({"basis": described(basis, events), "shown": shown}, text, count=len(shown))


def _lines(path: str) -> list[list[str]]:
    from engine.notes.files import read_file
    from proofs.asked import claim_lines
    from proofs.errors import ProofError

    try:
        return claim_lines(read_file(path, CLAIMS_BYTES_MAX))
    except ProofError as error:
        raise InvalidInputError(f"{path}: {error}") from None


def _data(proof: Proof, out: str | None) -> dict[str, object]:
    from proofs.asked import described
    from proofs.shown import plain

    return {
        "file": out,
        "bytes": len(proof.data),
        "proof": None if out else proof.data.hex(),
        "basis": described(proof.basis, proof.size),
        "size": proof.size,
        "replayed": proof.replayed,
        "shown": [plain(one) for one in proof.shown],
    }


def _report(proof: Proof, file: str, claims: str | None, checkpoint: str | None) -> Iterator[Line]:
    from proofs.words import words_of

    for shown in proof.shown:
        yield line("holds", " ".join(words_of(shown.claim)))
    yield line("root" if checkpoint is None else "log root", proof.basis.root.hex())
    yield line("proof", f"{len(proof.data):,} bytes, of {counted(proof.size, 'event')}")
    yield line("verify", _how_to_verify(proof, file, claims, checkpoint))


def _is_whole(lines: list[list[str]], proof: Proof) -> bool:
    """Whether a verifier who reads these lines asks for what was proved."""
    from proofs.errors import ProofError
    from proofs.words import parse_claim

    try:
        return [parse_claim(line) for line in lines] == list(proof.claims)
    except ProofError:
        return False


def _how_to_verify(proof: Proof, file: str, claims: str | None, checkpoint: str | None) -> str:
    """The command for the other side."""
    from uuid import UUID

    from proofs.words import words_of

    basis = proof.basis
    given = ["--checkpoint", checkpoint] if checkpoint else ["--root", basis.root.hex(), "--store"]
    if not checkpoint:
        given.append(str(UUID(bytes=basis.store_id)))
    asked = words_of(proof.claims[0]) if claims is None else ["--claims", claims]
    return shlex.join(["python", "-m", "proofs", "verify", file, *given, *asked])
