"""Commands on what must not be in the store: secrets finds it, erase destroys it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from engine.base.errors import RefusedError, VerificationError
from engine.cli.command import argument, command, option, repeated
from engine.cli.mirroring import after_writes
from engine.cli.options import ID, dry_run, one_of
from engine.cli.output import Failure, plain
from engine.cli.session import Session
from engine.cli.shapes import Line, Table, counted, line
from engine.erase.run import Erasable, Erasure
from engine.front.settings import find_secrets
from engine.secrets.kinds import DETECTORS
from engine.secrets.policy import SecretsPolicy
from engine.trust.secrets_scan import scan

FOUND = 1


@command(
    "engine erase 1f0c --reason 'asked for by its owner' --dry-run",
    "engine erase 1f0c --reason GDPR --yes",
)
@ID
@option(
    "--reason",
    metavar="TEXT",
    required=True,
    help="Why it is erased. The reason is kept: do not quote the content.",
)
@option("--forget", help="Keep no hash of it, so that it may be added again unnoticed.")
@option("--no-probe", help="Do not search for it before and after.")
@dry_run("Only report what would be destroyed.")
@option("--yes", help="Do not ask.")
def erase(
    session: Session, atom: str, reason: str, forget: bool, no_probe: bool, dry_run: bool, yes: bool
) -> int:
    """Destroy an atom's content and its edges permanently.

    Its history stays verifiable: what happened when, and by whom, but not what it said. The content
    is looked for in the store's files and in every answer, before and after; exit code 4 if it is
    still found. What erasing does not reach is printed. Without a terminal it takes --yes.
    """
    with session.engine() as engine:
        found = engine.resolve(atom)
        wanted = engine.erasable(found)
        if dry_run:
            return session.out.answer({**plain(wanted), "dry_run": True}, _planned(wanted))
        if not yes:
            _ask(session, wanted)

        def told(stage: str) -> None:
            session.out.note(f"erasing: {stage}")

        receipt = engine.erase(found, reason, remember=not forget, probe=not no_probe, progress=told)
        failure = after_writes(session, engine)
    if receipt.probe is not None and receipt.probe.verdict == "failed":
        error = VerificationError(
            "it was erased, and is still found: " + "; ".join(receipt.probe.reasons),
            hint="run `engine verify-root`, and say where it was found in a bug report",
        )
        failure = Failure.of(error)
    return session.out.answer(
        {**plain(receipt), "changed": bool(receipt.events)}, _done(receipt), failure=failure
    )


def _ask(session: Session, wanted: Erasable) -> None:
    """Have whoever sits at the terminal say yes.

    Raises:
        RefusedError: nobody sits there, or they say no.
    """
    if session.out.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RefusedError("erasing cannot be taken back", hint="look with --dry-run, then add --yes")
    session.out.note(
        f"{wanted.payloads} payloads and {wanted.edges} edges of atom {wanted.id} will be gone for good"
    )
    if not click.confirm("Erase it?", err=True):
        raise RefusedError("nothing was erased")


def _planned(wanted: Erasable) -> Iterator[Line]:
    yield line("would erase", wanted.id)
    yield line("payloads", f"{wanted.payloads:,} of {wanted.payload_bytes:,} bytes")
    yield line("edges", f"{wanted.edges:,}")
    yield line("contents", f"{wanted.contents:,}")
    for other in wanted.also_in:
        yield line("also in", other)


def _done(receipt: Erasure) -> Iterator[Line]:
    if not receipt.events and not receipt.purged:
        yield line("erased", f"{receipt.id}, before")
        return
    yield line("erased", receipt.id)
    if receipt.events:
        yield line("event", str(receipt.events[-1].seq))
    yield line("payloads", f"{receipt.payloads:,} of {receipt.payload_bytes:,} bytes")
    yield line("edges", f"{receipt.edges:,}")
    yield line("hashes kept", f"{receipt.contents:,}")
    yield line("segments", f"{receipt.segments:,} written anew")
    yield line("files", "rewritten" if receipt.purged else "not rewritten")
    probe = receipt.probe
    if probe is not None:
        reasons = f": {'; '.join(probe.reasons)}" if probe.reasons else ""
        yield line("probe", f"{probe.verdict}{reasons}")
        yield line("before", f"{', '.join((*probe.before.files, *probe.before.answers)) or 'nowhere'}")
        yield line("after", f"{', '.join((*probe.after.files, *probe.after.answers)) or 'nowhere'}")
        for other in probe.also_in:
            yield line("also in", other)
    for what in receipt.out_of_reach:
        yield line("not reached", what)


@command("engine secrets scan", "engine secrets scan --json --kind aws-key")
@argument("action", "ACTION", "scan.")
@repeated("kinds", "--kind", metavar="KIND", help="Only secrets of this kind. Repeatable.")
def secrets(session: Session, action: str, kinds: tuple[str, ...]) -> int:
    """Search the store for passwords, keys and other secrets.

    Reads every payload there is, also of tombstoned atoms and of earlier versions. What is found is
    listed with its first characters only. Exit code 1: something was found. What is to become of
    secrets in what is still to be written is said in the settings: `secrets = "redact"`.
    """
    one_of(["scan"], action, "action")
    policy = find_secrets()[0] or SecretsPolicy()
    known = {detector.kind for detector in (*DETECTORS, *policy.detectors)}
    for one in kinds:
        one_of(sorted(known), one, "kind")
    policy = policy.with_kinds(kinds)
    with (
        session.backend(session.setting.url) as backend,
        backend.snapshot() as rows,
        session.meter("read", "events") as move,
    ):
        found = list(scan(rows, policy, move))
    failure = None
    if found:
        atoms = {atom for leak in found for atom in leak.atoms}
        failure = Failure(
            FOUND,
            "found",
            f"{counted(len(found), 'secret')} in the payloads of {counted(len(atoms), 'atom')}",
            "change what was leaked; then `engine erase ID` destroys an atom's payloads",
        )
    heads = ("seq", "event", "atoms", "field", "kind", "preview")
    lines = [
        (str(leak.seq), leak.event, " ".join(leak.atoms), leak.field, leak.kind, leak.preview)
        for leak in found
    ]
    return session.out.answer(
        [plain(leak) for leak in found], [Table(heads, lines)] if lines else [], failure=failure
    )
