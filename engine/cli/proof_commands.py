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
from proofs.basis import Root
from proofs.claim_words import type_name, words_of
from proofs.envelope import BEGINNING, ENVELOPE_BYTES_MAX
from proofs.errors import ProofError
from proofs.events import AtomBody
from proofs.leaves import State
from proofs.note import format_note
from proofs.proof_file import BEGINNING as BEGINNING_OF_PROOF
from proofs.verified import to_plain
from proofs.verify_arguments import CLAIMS_BYTES_MAX, Pinned, describe_basis, examine_file, split_claims

PAGE: Final = "verify.html"
PAGE_TITLE: Final = b"<title>Check a memroot proof</title>"
PAGE_HEAD_BYTES: Final = 4096
PAGE_BYTES_MAX: Final = 1_048_576


@command(
    "engine prove atom 1f0c -o kettle.memproof",
    "engine prove no-term unicorn -o absent.memproof",
    "engine prove --claims claims.txt --checkpoint at.note -o bundle.memproof",
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
    TYPE TARGET, tag ID TAG [STATE], no-tag ID TAG [STATE], in ID GROUP VALUE [STATE], not-in ID GROUP VALUE
    [STATE], tagged TAG, none-tagged TAG, all GROUP VALUE, none GROUP VALUE, term WORD, no-term WORD, term
    =TERM, edges-from ID [TYPE], edges-to ID [TYPE], tags ID [STATE], event SEQ [sealed], prefix SIZE ROOT,
    root ROOT, prefix-root ROOT [SIZE], seen STORE SIZE ROOT. A STATE is live, tombstoned or erased. `sealed`
    omits the content. A range of ordinals FIRST-LAST may follow tagged, all, term and their negations. A
    claim that does not hold is refused. The file also holds the claims and the root.

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
    note = None if checkpoint is None else read_note(checkpoint)
    with session.engine() as engine:
        proof = engine.prove(lines, as_of=as_of, checkpoint=None if note is None else note.checkpoint.text)
    if proof.replayed:
        session.out.note(f"{counted(proof.replayed, 'event')} replayed")
    envelope = proof.envelope(note)
    if target is not None:
        replace_file(target, envelope, PUBLIC)
    elif not session.out.json:
        session.out.note(_how_to_verify("FILE"))
        sys.stdout.buffer.write(envelope)
        return 0
    data = {
        "file": None if target is None else str(target),
        "bytes": len(envelope),
        "proof": None if target else envelope.hex(),
        "basis": describe_basis(proof.basis, proof.size),
        "size": proof.size,
        "replayed": proof.replayed,
        "shown": [to_plain(one) for one in proof.shown],
    }
    return session.out.answer(data, _report(proof, len(envelope), str(target or "FILE")), count=1)


@command(
    "engine verify-proof kettle.memproof",
    "engine verify-proof kettle.memproof --root HEX",
    "engine verify-proof bundle.memproof --checkpoint at.note --claims claims.txt",
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
    """Check a proof, and print what it shows.

    Needs no store. The file says which claims it shows, and for which root: compare the root with one that
    you trust, or give that one with --root or --checkpoint. Exit code 4: the proof does not show the claims.
    `python -m proofs FILE` does the same, and needs only the packages proofs, blake3 and cbor2.

    Args:
        file: The proof.
        claim: The claim, with whole ids and terms, if it is not to be taken from the file.
        root: `HEX` The overall root that you trust.
        store_id: `ID` The id of the store that the proof is from.
        size: The number of events that the root covers, if known.
        checkpoint: `NOTE` A checkpoint that you trust, to be used instead of a root.
    """
    note = None if checkpoint is None else format_note(read_note(checkpoint))
    listed = None if claims is None else read_file(claims, CLAIMS_BYTES_MAX)
    data = read_file(file, ENVELOPE_BYTES_MAX)
    try:
        facts, events, basis, compare = examine_file(
            data, Pinned(root, size, store_id, note), list(claim), listed, folded_tag
        )
    except ProofError as error:
        if error.reason == "input":
            raise InvalidInputError(str(error).partition(": ")[2]) from error
        raise VerificationError(f"the proof does not show the claim: {error}", hint=_OTHERWISE) from error
    for fact in facts:
        _note_words(session, fact)
    shown = [to_plain(one) for one in facts]
    text = [*(part for fact in facts for part in _answer(fact)), line("as of", counted(events, "event"))]
    if compare is not None:
        text.append(line("trust", compare))
    answer = {"basis": describe_basis(basis, events), "compare": compare, "shown": shown}
    return session.out.answer(answer, text, count=len(shown))


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
        case verified.LoggedEvent() | verified.RecordedRoot() | verified.SeenHead():
            header = fact.header
            yield line("", f"{header.kind.word} by {header.actor} at {shown_time(header.time)}")
        case verified.LogPrefix():
            yield line("", f"{counted(fact.size, 'event')}, of {fact.into:,} now")
        case _:
            yield from _listed(fact)


def _listed(fact: verified.Verified) -> Iterator[Shown]:
    """Yield the items of a complete list, or nothing if the fact is about no list."""
    match fact:
        case verified.AllTagged(atoms=atoms) | verified.AllMentioning(atoms=atoms):
            for atom in atoms:
                times = "" if atom.tf is None else f"  {atom.tf}×"
                yield line("", f"{UUID(bytes=atom.id)}{times}")
            yield line("", f"{counted(len(atoms), 'atom')}, and no others")
        case verified.AllEdges(edges=edges):
            for edge in edges:
                state = State(edge.value.state).name.lower()
                yield line("", f"{type_name(edge.type)} {UUID(bytes=edge.other)} {state}")
            yield line("", f"{counted(len(edges), 'edge')}, and no others")
        case verified.AllTags(tags=tags):
            yield line("", f"{' '.join(f'#{tag}' for tag in tags) or 'no tags'}, and no others")
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
            if not file.read(len(BEGINNING)).startswith((BEGINNING, BEGINNING_OF_PROOF)):
                raise RefusedError(f"{path} exists and is not a proof", hint="name another file")


def _lines(path: str) -> list[list[str]]:
    try:
        return split_claims(read_file(path, CLAIMS_BYTES_MAX))
    except ProofError as error:
        raise InvalidInputError(f"{path}: {error}") from None


def _report(proof: Proof, size: int, file: str) -> Iterator[Line]:
    for shown in proof.shown:
        yield line("holds", " ".join(words_of(shown.claim)))
    yield line("root" if isinstance(proof.basis, Root) else "log root", proof.basis.root.hex())
    yield line("proof", f"{size:,} bytes, of {counted(proof.size, 'event')}")
    yield line("verify", _how_to_verify(file))


def _how_to_verify(file: str) -> str:
    """Return the command that verifies the proof."""
    # A name that begins with a dash would be read as an option.
    return shlex.join(["python", "-m", "proofs", f"./{file}" if file.startswith("-") else file])
