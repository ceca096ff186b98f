"""The command secrets: what is in the store and should not be."""

from __future__ import annotations

from engine.base.errors import InvalidInputError
from engine.cli.command import argument, command, option
from engine.cli.output import Failure, Table
from engine.cli.session import Session
from engine.cli.values import counted, plain
from engine.front.settings import find_secrets
from engine.secrets.kinds import DETECTORS
from engine.secrets.policy import SecretsPolicy
from engine.trust.secrets_scan import scan

FOUND = 1


@command("engine secrets scan", "engine secrets scan --json --kind aws-key")
@argument("action", "ACTION", "scan.")
@option("kinds", "--kind", metavar="KIND", multiple=True, help="Only secrets of this kind. Repeatable.")
def secrets(session: Session, action: str, kinds: tuple[str, ...]) -> int:
    """Search the store for passwords, keys and other secrets.

    Reads every payload there is, also of tombstoned atoms and of earlier versions. What is found is
    listed with its first characters only. Exit code 1: something was found. What is to become of
    secrets in what is still to be written is said in the settings: `secrets = "redact"`.
    """
    if action != "scan":
        raise InvalidInputError(f"there is no action {ascii(action)[:80]}", hint="scan")
    policy = find_secrets()[0] or SecretsPolicy()
    known = {detector.kind for detector in (*DETECTORS, *policy.detectors)}
    for one in kinds:
        if one not in known:
            raise InvalidInputError(
                f"there is no kind {ascii(one)[:80]}", hint=f"known: {', '.join(sorted(known))}"
            )
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
