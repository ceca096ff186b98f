"""Commands on checkpoints outside the store: checkpoint, verify-checkpoint, key.

Other commands use `compared` and `contradicted` to compare checkpoints and to save a contradiction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from engine.base.errors import (
    EngineError,
    InconsistentError,
    InvalidInputError,
    RefusedError,
    VerificationError,
    system_failure,
)
from engine.base.json_text import encode
from engine.base.outside_files import PUBLIC, check_writable, replace_file
from engine.base.times import shown_time
from engine.cli.cli_output import STDIN, Failure, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Positive, command
from engine.cli.shared_options import one_of
from engine.cli.shown_parts import Line, line
from engine.ledger.journal import read_identity
from engine.trust.notes.known_checkpoints import check_pair, keep_evidence, read_history
from engine.trust.notes.signing import load_key, new_key
from engine.trust.notes.trusted_keys import Judged, Trust, added, judge, merged, read_note, require
from proofs.errors import ProofError
from proofs.note import Note, format_note, origin_of, parse_note, store_id_of


@command("engine checkpoint", "engine checkpoint --key ~/keys/notes -o notes.checkpoint")
def checkpoint(session: Session, *, key: str | None = None, out: str | None = None) -> int:
    """Print a checkpoint to keep outside the store.

    Records the overall root in the journal, unless the last event already records it. Prints the origin,
    size and root of the log. Exit code 9: the store does not continue the checkpoint in FILE, or the
    last checkpoint that the key signed.

    Args:
        key: `FILE` Sign the checkpoint with this key.
        out: `-o FILE` Write the checkpoint to this file, not to stdout.
    """
    out = None if out == STDIN else out
    earlier = None if out is None else _earlier(Path(out), session.place(), signed=key is not None)
    checkpoints = () if earlier is None else (earlier.checkpoint,)
    try:
        with session.engine() as engine:
            note = engine.checkpoint_note(key=key, known=checkpoints)
    except InconsistentError as error:
        return contradicted(session, error, {out or key or "": earlier})
    said = f"event {note.seq} holds root {note.root}"
    session.out.note(f"recorded: {said}" if note.changed else f"nothing to do: {said}")
    if note.first:
        session.out.note(
            f"{key} has no record of an earlier checkpoint of this store; if this key has signed "
            "such a checkpoint, the record was lost: create a new key"
        )
    text = note.note if out is None else _kept(Path(out), note.note, earlier)
    if session.out.json or out is not None:
        data = {**encode(note), "note": text, "out": out}
        return session.out.answer(data, [out or ""])
    session.out.exact(text)
    return 0


def _earlier(path: Path, store: Path | None, *, signed: bool) -> Note | None:
    """Check that a note may be written to `path`, and return the existing note that would be replaced."""
    check_writable(path, store)
    if not path.exists():
        return None
    try:
        note = read_note(path)
    except VerificationError as error:
        raise RefusedError(
            str(error), hint="only a checkpoint file is overwritten; name another file"
        ) from None
    if note.signatures and not signed:
        raise RefusedError(
            f"{path} is signed and would be replaced by an unsigned note",
            hint="sign with --key, or name another file",
        )
    return note


def _kept(path: Path, text: str, earlier: Note | None) -> str:
    """Write a note to `path`, keeping signatures that others added to the same text in the existing file."""
    note = parse_note(text.encode())
    if earlier is not None and earlier.checkpoint == note.checkpoint:
        note = merged(note, path)
    return _written(path, note)


def _written(path: Path, note: Note) -> str:
    data = format_note(note)
    try:
        replace_file(path, data, PUBLIC)
    except OSError as error:
        raise system_failure(error, f"{path} cannot be written") from error
    return data.decode()


@command(
    "engine verify-checkpoint notes.checkpoint --against-store",
    "engine verify-checkpoint notes.checkpoint --key $(cat notes.key.vkey)",
    "engine verify-checkpoint new.checkpoint --since old.checkpoint",
    "engine verify-checkpoint my.note --witness $(cat w.vkey) --add lines.txt",
    name="verify-checkpoint",
)
def verify_checkpoint(
    session: Session,
    file: str,
    *,
    keys: tuple[str, ...] = (),
    witnesses: tuple[str, ...] = (),
    threshold: Positive | None = None,
    since: str | None = None,
    against_store: bool = False,
    add: str | None = None,
    evidence: str | None = None,
) -> int:
    """Check a saved checkpoint and its signatures.

    Without keys, checks only the format. With --against-store, also checks that the store's log had this root
    at this size. Exit code 4: a signature is wrong or missing. 9: the store or OLD contradicts the
    checkpoint.

    Args:
        file: The checkpoint, or - to read it from stdin.
        keys: `--key VKEY` A verifier key that must have signed FILE; if repeated, one of them.
        witnesses: `--witness VKEY` The verifier key of a witness that must have cosigned FILE. Repeatable.
        threshold: The number of witnesses that must have cosigned FILE. [default: all]
        since: `OLD` An older checkpoint that FILE must continue.
        against_store: Also check the checkpoint against the store; implied by --store.
        add: `OTHER` Add to FILE the signatures in OTHER that were made with the given keys.
    """
    if add is not None and file == STDIN:
        raise InvalidInputError("--add writes to FILE, so FILE cannot be stdin")
    trust = Trust.of(keys, witnesses, threshold)
    note = read_note(file)
    old = None if since is None else read_note(since)
    whole, left_out = (note, ()) if add is None else added(note, add, trust)
    judged = judge(whole, trust)
    require(judged, trust)
    if old is not None:
        judge(old, trust)
    asked = against_store or session.store is not None
    try:
        pair = None if old is None else (old, note)
        settled = compared(session, pair or [note], pair, asked=asked)
    except InconsistentError as error:
        turned = old is not None and not asked and swapped(old, note)
        advice = "if OLD is newer than NEW, swap the two files" if turned else ""
        return contradicted(session, error, {file: note, since or "": old}, evidence, advice)
    if not settled:
        raise InvalidInputError(
            "whether one checkpoint continues the other can only be checked with the store",
            hint="add --against-store",
        )
    if whole != note:
        _written(Path(file), whole)
    more = len(whole.signatures) - len(note.signatures)
    data = {**_said(whole, judged, trust), "in_store": asked or None, "continues": since, "added": more}
    data["left_out"] = [{"name": one.name, "key_id": one.key_id.hex()} for one in left_out]
    lines = [line("left out", f"{one.name} {one.key_id.hex()}: unknown key") for one in left_out]
    return session.out.answer(data, [*_judgement(whole, judged, trust, asked, since), *lines])


def _said(note: Note, judged: tuple[Judged, ...], trust: Trust) -> dict[str, Any]:
    return {
        "origin": note.checkpoint.origin,
        "store_id": _store_id(note),
        "size": note.checkpoint.size,
        "log_root": note.checkpoint.root.hex(),
        "checked": "signatures" if trust.keys or trust.witnesses else "form",
        "signatures": [{**encode(one), "time": _time(one)} for one in judged],
        "note": format_note(note).decode(),
    }


def _store_id(note: Note) -> str | None:
    """Return the id of the store that the note names, or None if the note is not of a memroot store."""
    try:
        return str(UUID(bytes=store_id_of(note.checkpoint.origin)))
    except ProofError:
        return None


def _time(judged: Judged) -> str | None:
    return None if judged.time is None else shown_time(judged.time * 1_000_000)


def _judgement(
    note: Note, judged: tuple[Judged, ...], trust: Trust, asked: bool, since: str | None
) -> Iterator[Line]:
    yield line("origin", note.checkpoint.origin)
    if _store_id(note) is None:
        yield line("", "not the origin of a memroot store, which is memroot.local/ and an id in lower case")
    yield line("size", f"{note.checkpoint.size:,}")
    yield line("log root", note.checkpoint.root.hex())
    for one in judged:
        by = {"key": "valid", "witness": f"valid, at {_time(one)}", "unknown": "not checked: unknown key"}
        yield line("signature", f"{one.name} {one.key_id}: {by[one.by]}")
    if trust.keys or trust.witnesses:
        yield line("checked", f"{counted(sum(one.by != 'unknown' for one in judged), 'signature')}")
    else:
        yield line("checked", "only the format; without a key, the author is not known")
    if asked:
        yield line("store", "has it")
    if since is not None:
        yield line("continues", since)


SLOT_ACTIONS = ("list", "add", "change", "remove", "rotate")
"""The actions of `engine key` on a sealed store."""


@command(
    "engine key new ~/keys/notes",
    "engine key new log.key --name example.com/log",
    "engine key show log.key",
    "engine key change",
    "engine key add anna",
)
def key(session: Session, action: str, file: str | None = None, *, name: str | None = None) -> int:
    """Make a key that signs checkpoints, or change the keys of a sealed store.

    new and show: prints the verifier key and writes it to FILE.vkey. Others need the verifier key to check
    signatures. FILE is secret, and an existing FILE is never overwritten.

    The other actions are for sealed stores (docs/sealed.md). Each secret that opens a store has a slot: list
    prints their names, add makes one, remove removes one, and change gives one a new secret. rotate encrypts
    the store under a new data key, and leaves only the slots of a new passphrase and a new recovery phrase.

    Args:
        action: The action: new or show; list, add, change, remove or rotate.
        file: `FILE|SLOT` The key file, outside every store; for the other actions the name of a slot.
        name: The name of the key. [default: the store's origin]
    """
    one_of(["new", "show", *SLOT_ACTIONS], action, "action")
    if action in SLOT_ACTIONS:
        if name is not None:
            raise InvalidInputError("--name can only be used with `engine key new`", hint="omit --name")
        from engine.cli.sealed_commands import change_slots

        return change_slots(session, action, file)
    if file is None:
        raise InvalidInputError(f"`engine key {action}` needs the key file")
    if action == "new":
        if name is None:
            with session.backend(session.setting.url) as backend:
                name = origin_of(read_identity(backend).store_id)
        verifier = new_key(Path(file), name, session.place())
        session.out.note(f"created a key: keep {file} secret, and publish {file}.vkey")
    elif name is not None:
        raise InvalidInputError("--name can only be used with `engine key new`", hint="omit --name")
    else:
        verifier = load_key(Path(file)).verifier
    data = {"file": file, "name": verifier.name, "key_id": verifier.key_id.hex(), "vkey": verifier.vkey}
    return session.out.answer(data, [verifier.vkey])


UNNAMED = "checkpoint"
"""The base name of evidence files if the checkpoint did not come from a file."""


def compared(
    session: Session, notes: Sequence[Note], since: tuple[Note, Note] | None, *, asked: bool
) -> bool:
    """Compare saved checkpoints (notes) with each other and with the store.

    With `asked`, the log of the store must continue all of `notes`. The second note of `since` must continue
    the first note.

    Returns:
        False if the comparison needs the store, and the store was not consulted.

    Raises:
        InconsistentError: the store contradicts a note, or the two notes contradict each other.
        InvalidInputError: the store contains both notes, and the first is newer than the second.
    """
    # Two notes in the wrong order look like a rollback. If the store contains both, there was no rollback.
    turned = asked and since is not None and swapped(*since)
    settled = since is None or turned or check_pair(since[0].checkpoint, since[1].checkpoint)
    if asked:
        with session.backend(session.setting.url) as backend, backend.snapshot() as rows:
            history = read_history(rows, [note.checkpoint.size for note in notes])
            for note in notes:
                history.check(note.checkpoint)
    if turned and since is not None:
        sizes = [note.checkpoint.size for note in since]
        raise InvalidInputError(
            f"OLD is newer than NEW: it covers {sizes[0]:,} events, NEW covers {sizes[1]:,}",
            hint="swap the two files",
        )
    return settled or asked


def swapped(old: Note, new: Note) -> bool:
    """Return True if both notes are of the same store and `old` covers more events than `new`."""
    return old.checkpoint.origin == new.checkpoint.origin and old.checkpoint.size > new.checkpoint.size


def contradicted(
    session: Session,
    error: InconsistentError,
    known: Mapping[str, Note | None],
    folder: str | None = None,
    advice: str = "",
) -> int:
    """Save both checkpoints as evidence, report the contradiction, and return exit code 9.

    Args:
        session: The current run.
        error: The contradiction.
        known: File → the note that was read from this file and checked. The evidence is named after the
            file of the contradicted checkpoint, or after the first file if no file contains that checkpoint.
        folder: The folder for the evidence. None means the folder of the file that gives the evidence its
            name.
        advice: The hint that tells the user what to check first.
    """
    named = {note.checkpoint.text: (name, format_note(note).decode()) for name, note in known.items() if note}
    name, text = named.get(error.known, (next(iter(known), ""), error.known))
    beside = Path(UNNAMED if name in {"", "-"} else name)
    place = beside if folder is None else Path(folder) / beside.name
    try:
        evidence: Path | None = keep_evidence(error, text, place)
        hint = f"both checkpoints are saved in {evidence}; show them to the operator of the store"
    except EngineError as failure:
        evidence, hint = None, f"the evidence could not be saved ({failure}): save both checkpoints yourself"
    data = {"problem": str(error), "known": text, "found": list(error.found)}
    lines = [line("known", _one_line(error.known)), line("found", _one_line(error.found[-1]))]
    hint = f"{advice}; {hint}" if advice else hint
    return session.out.answer(
        {**data, "evidence": None if evidence is None else str(evidence)},
        lines,
        failure=replace(Failure.of(error), hint=hint),
    )


def _one_line(text: str) -> str:
    """Return the three lines of a checkpoint, without signatures, on one line."""
    return text.partition("\n\n")[0].strip().replace("\n", " ")
