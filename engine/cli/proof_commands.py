"""Commands on proofs: prove, verify-proof, terms."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import UUID

from engine.base.errors import InvalidInputError, RefusedError, VerificationError
from engine.base.outside_files import PUBLIC, check_writable, read_file, replace_file
from engine.base.times import shown_time
from engine.base.validation import folded_tag
from engine.cli.cli_output import STDIN, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Natural, command
from engine.cli.shared_options import AsOf, one_of
from engine.cli.shown_parts import Line, Shown, Table, line
from engine.text.analyzer import index_terms
from engine.trust.notes.trusted_keys import read_note
from engine.trust.proving.prove import Proof
from engine.window.page import whole_page
from proofs import verified
from proofs.claim_words import parse_claim, words_of
from proofs.errors import ProofError
from proofs.events import AtomBody
from proofs.limits import BUNDLE_BYTES_MAX
from proofs.note import format_note
from proofs.proof_file import BEGINNING
from proofs.verified import to_plain
from proofs.verifier import examine
from proofs.verify_arguments import CLAIMS_BYTES_MAX, describe_basis, parse_basis, parse_claims, split_claims

PAGE: Final = "verify.html"
PAGE_TITLE: Final = b"<title>Check a memroot proof</title>"
PAGE_HEAD_BYTES: Final = 4096
PAGE_BYTES_MAX: Final = 1_048_576


@command(
    "engine prove atom 1f0c -o kettle.proof",
    "engine prove no-term unicorn -o absent.proof",
    "engine prove --claims claims.txt --checkpoint at.note -o bundle.proof",
)
def prove(
    session: Session,
    claim: tuple[str, ...] = (),
    *,
    claims: str | None = None,
    out: str | None = None,
    as_of: AsOf | None = None,
    checkpoint: str | None = None,
) -> int:
    """Create a proof that anyone can check without the store.

    Claims: atom ID [STATE] [sealed], no-atom ID, edge SOURCE TYPE TARGET [STATE] [sealed], no-edge SOURCE
    TYPE TARGET, tag ID TAG, no-tag ID TAG, tagged TAG, none-tagged TAG, term WORD, no-term WORD, term =TERM,
    event SEQ [sealed], prefix SIZE ROOT, root ROOT, prefix-root ROOT [SIZE]. A STATE is live, tombstoned or
    erased. `sealed` omits the content. A claim that does not hold is refused. Prints the command that
    verifies the proof.

    Args:
        out: `-o FILE` Write the proof to this file.
        checkpoint: `NOTE` Create a proof for the checkpoint in this file, not for the current root.
    """
    if bool(claim) == (claims is not None):
        raise InvalidInputError("give one claim, or a file of claims with --claims")
    to_stdout = out in {None, STDIN}
    if to_stdout and sys.stdout.isatty() and not session.out.json:
        raise InvalidInputError("a proof is binary: name a file with --out, or redirect stdout")
    target = None if to_stdout else Path(out or "")
    if target is not None:
        _check_target(target, session)
    lines = [list(claim)] if claim else _lines(claims or "")
    note = None if checkpoint is None else read_note(checkpoint).checkpoint.text
    with session.engine() as engine:
        proof = engine.prove(lines, as_of=as_of, checkpoint=note)
    if proof.replayed:
        session.out.note(f"{counted(proof.replayed, 'event')} replayed")
    listed = claims
    if claims is not None and not _is_whole(lines, proof):
        listed = None if target is None else f"{target}.claims"
        if listed:
            whole = "".join(" ".join(words_of(one)) + "\n" for one in proof.claims)
            replace_file(Path(listed), whole.encode(), PUBLIC)
    if target is not None:
        replace_file(target, proof.data, PUBLIC)
    elif not session.out.json:
        session.out.note(_how_to_verify(proof, "FILE", listed, checkpoint))
        sys.stdout.buffer.write(proof.data)
        return 0
    report = _report(proof, str(target or "FILE"), listed, checkpoint)
    data = {
        "file": None if target is None else str(target),
        "bytes": len(proof.data),
        "proof": None if target else proof.data.hex(),
        "basis": describe_basis(proof.basis, proof.size),
        "size": proof.size,
        "replayed": proof.replayed,
        "shown": [to_plain(one) for one in proof.shown],
    }
    return session.out.answer(data, report, count=1)


@command(
    "engine verify-proof absent.proof --root HEX --store-id ID no-term unicorn",
    "engine verify-proof bundle.proof --checkpoint at.note --claims claims.txt",
    name="verify-proof",
)
def verify_proof(
    session: Session,
    file: str,
    claim: tuple[str, ...] = (),
    *,
    claims: str | None = None,
    root: str | None = None,
    store_id: str | None = None,
    size: Natural | None = None,
    checkpoint: str | None = None,
) -> int:
    """Check a proof against a root or checkpoint that you trust.

    Needs no store. Give whole ids and terms, as `engine prove` prints them. Exit code 4: the proof does
    not show the claim. `python -m proofs verify` does the same, and needs only the packages proofs,
    blake3 and cbor2.

    Args:
        file: The proof.
        root: `HEX` The overall root that you trust.
        store_id: `ID` The id of the store that the proof is from.
        size: The number of events that the root covers, if known.
        checkpoint: `NOTE` A checkpoint that you trust, to be used instead of a root.
    """
    note = None if checkpoint is None else format_note(read_note(checkpoint))
    listed = None if claims is None else read_file(claims, CLAIMS_BYTES_MAX)
    try:
        basis, wanted = parse_basis(root, size, store_id, note), parse_claims(list(claim), listed, folded_tag)
        facts, events = examine(read_file(file, BUNDLE_BYTES_MAX), basis, wanted)
    except ProofError as error:
        if error.reason == "input":
            raise InvalidInputError(str(error).partition(": ")[2]) from error
        raise VerificationError(f"the proof does not show the claim: {error}", hint=_OTHERWISE) from error
    for fact in facts:
        _note_words(session, fact)
    shown = [to_plain(one) for one in facts]
    text = [*(part for fact in facts for part in _answer(fact)), line("as of", counted(events, "event"))]
    return session.out.answer(
        {"basis": describe_basis(basis, events), "shown": shown}, text, count=len(shown)
    )


_OTHERWISE = "the proof is for a different claim, root or checkpoint, or it was changed"


@command("engine proof page -o verify.html")
def proof(session: Session, action: str, *, out: str | None = None) -> int:
    """Write a page that checks proofs in any browser.

    The page is one file that loads and sends nothing. Drop a proof on it, and give the root or the checkpoint
    that you trust. Make the page yourself or get it from somebody you trust: a page from the sender of a
    proof could say anything.

    Args:
        action: page.
        out: `-o FILE` Write the page to this file.
    """
    one_of(["page"], action, "action")
    text = whole_page(PAGE)
    if out in {None, STDIN}:
        return session.out.answer({"file": None, "page": text}, [text.removesuffix("\n")])
    page = text.encode()
    path = Path(out or "")
    check_writable(path, session.place())
    if path.is_file() and PAGE_TITLE not in read_file(path, PAGE_BYTES_MAX)[:PAGE_HEAD_BYTES]:
        raise RefusedError(f"{path} exists and is not this page", hint="name another file")
    replace_file(path, page, PUBLIC)
    return session.out.answer({"file": out, "bytes": len(page)}, [str(path)])


@command("engine terms 'The kettles were descaled.'", "engine terms ADR-016 --json")
def terms(session: Session, text: tuple[str, ...]) -> int:
    """Show the index terms of a text, for claims about terms.

    The index stores each word as one or more terms, and a claim names one of these terms. Needs no store.

    Args:
        text: One or more words.
    """
    terms_of_word = {word: index_terms(word) for word in " ".join(text).split()}
    rows = ((word, " ".join(terms_of_word[word])) for word in terms_of_word)
    data = [{"word": word, "terms": listed} for word, listed in terms_of_word.items()]
    return session.out.answer(data, [Table(("word", "terms"), rows)])


def _answer(fact: verified.Verified) -> Iterator[Shown]:
    """Yield the lines that describe the claim and the other facts that the proof shows."""
    yield line("holds", " ".join(words_of(fact.claim)))
    match fact:
        case verified.LiveAtom(body=AtomBody() as body) | verified.TombstonedAtom(body=AtomBody() as body):
            if body.title is not None:
                yield line("title", body.title)
            if body.source is not None:
                yield line("source", body.source)
            yield body.content
        case verified.AllTagged(atoms=atoms) | verified.AllMentioning(atoms=atoms):
            for atom in atoms:
                times = "" if atom.tf is None else f"  {atom.tf}×"
                yield line("", f"{UUID(bytes=atom.id)}{times}")
            yield line("", f"{counted(len(atoms), 'atom')}, and no others")
        case verified.LoggedEvent(header=header) | verified.RecordedRoot(header=header):
            yield line("", f"{header.kind.name.lower()} by {header.actor} at {shown_time(header.time)}")
        case verified.LogPrefix():
            yield line("", f"{counted(fact.size, 'event')}, of {fact.into:,} now")
        case _:
            return


def _note_words(session: Session, fact: verified.Verified) -> None:
    """Print a note if the term that a claim names is not one of the terms of the given word."""
    term = getattr(fact.claim, "term", None)
    if term is not None and (other := index_terms(term)) != [term]:
        named = " ".join(other) or "none"
        session.out.note(
            f"the claim is about the term {term!r}, but the index has that word under the terms: {named}"
        )


def _check_target(path: Path, session: Session) -> None:
    """Check that a proof may be written to `path`; called before the proof is created.

    Raises:
        RefusedError: `path` exists and is not a proof, or `path` is inside the store.
    """
    check_writable(path, session.place())
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(BEGINNING)) != BEGINNING:
                raise RefusedError(f"{path} exists and is not a proof", hint="name another file")


def _lines(path: str) -> list[list[str]]:
    try:
        return split_claims(read_file(path, CLAIMS_BYTES_MAX))
    except ProofError as error:
        raise InvalidInputError(f"{path}: {error}") from None


def _report(proof: Proof, file: str, claims: str | None, checkpoint: str | None) -> Iterator[Line]:
    for shown in proof.shown:
        yield line("holds", " ".join(words_of(shown.claim)))
    yield line("root" if checkpoint is None else "log root", proof.basis.root.hex())
    yield line("proof", f"{len(proof.data):,} bytes, of {counted(proof.size, 'event')}")
    yield line("verify", _how_to_verify(proof, file, claims, checkpoint))


def _is_whole(lines: list[list[str]], proof: Proof) -> bool:
    """Return True if these lines, as a verifier reads them, are the claims that were proved."""
    try:
        return [parse_claim(line) for line in lines] == list(proof.claims)
    except ProofError:
        return False


def _how_to_verify(proof: Proof, file: str, claims: str | None, checkpoint: str | None) -> str:
    """Return the command that verifies the proof."""
    basis = proof.basis
    given = ["--checkpoint", checkpoint] if checkpoint else ["--root", basis.root.hex(), "--store-id"]
    if not checkpoint:
        given.append(str(UUID(bytes=basis.store_id)))
    asked = words_of(proof.claims[0])
    if claims is not None or len(proof.claims) > 1:
        asked = ["--claims", claims or "LIST"]
    elif any(word.startswith("-") for word in asked):
        asked = ["--", *asked]
    return shlex.join(["python", "-m", "proofs", "verify", file, *given, *asked])
