"""Command line: `python -m proofs FILE` checks a proof.

The command needs only this package, blake3 and cbor2. No other module of the package reads files or prints.
The result is printed to stdout as one JSON object, in which control characters are escaped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from proofs.claim_words import USAGE_OF_CLAIMS, parse_number
from proofs.envelope import ENVELOPE_BYTES_MAX
from proofs.errors import ProofError
from proofs.note import NOTE_BYTES_MAX
from proofs.verified import to_plain
from proofs.verify_arguments import CLAIMS_BYTES_MAX, Pinned, describe_basis, examine_file

OK, FAILED, USAGE, MISSING, REFUSED = range(5)
"""The exit codes 0 to 4: success, unreadable file or failed output, wrong usage, missing file, refused proof.

The command `engine` uses the same exit codes.
"""
_COMMAND = "verify"
"""The only command. It may be left out."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, or with the arguments of the process if None, and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    args = _parser().parse_intermixed_args(words[1:] if words[:1] == [_COMMAND] else words)
    try:
        size = None if args.size is None else parse_number(args.size)
        pinned = Pinned(args.root, size, args.store_id, _read(args.checkpoint, NOTE_BYTES_MAX))
        claims = _read(args.claims, CLAIMS_BYTES_MAX)
    except ProofError as error:
        return _fail(USAGE, error)
    except OSError as error:
        return _report_unreadable(error)
    try:
        data = _read(args.file, ENVELOPE_BYTES_MAX) or b""
        facts, as_of, basis, compare = examine_file(data, pinned, args.claim, claims)
    except ProofError as error:
        return _fail(USAGE if error.reason == "input" else REFUSED, error)
    except OSError as error:
        return _report_unreadable(error)
    return _print(
        OK,
        {
            "verified": True,
            "basis": describe_basis(basis, as_of),
            "compare": compare,
            "shown": [to_plain(one) for one in facts],
        },
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m proofs",
        usage="%(prog)s [verify] FILE [--root HEX --store-id ID [--size N] | --checkpoint NOTE] "
        "[CLAIM ... | --claims LIST]",
        description="Verify a proof. The file says which claims it shows, and for which root; a root or "
        "checkpoint that you give must be the one in the file. A proof without an envelope, such as the one "
        "that a service sends, needs a root or checkpoint and the claims. Exit codes: 0 if it shows every "
        "claim, 4 if not, 2 for wrong usage, 3 if a file does not exist, 1 if a file cannot be read.",
        epilog=f"Claims: {USAGE_OF_CLAIMS}. TAG is the identity of a tag: without the #, case-folded and "
        "normalised; this command does not fold it. To verify the signatures of a checkpoint as well, use "
        "`engine verify-checkpoint`.",
    )
    parser.add_argument("file", metavar="FILE", help="the proof")
    parser.add_argument("claim", metavar="CLAIM", nargs="*", help="the claim to verify, in words")
    parser.add_argument("--root", metavar="HEX", help="the overall root that you trust, 64 hex digits")
    parser.add_argument("--store-id", "--store", metavar="ID", help="the id of the store that has this root")
    parser.add_argument("--size", metavar="N", help="the number of events that the root covers")
    parser.add_argument("--checkpoint", metavar="NOTE", help="the checkpoint note that you trust")
    parser.add_argument("--claims", metavar="LIST", help="a file with one claim on each line")
    return parser


def _read(path: str | None, most: int) -> bytes | None:
    if path is None:
        return None
    with Path(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ProofError("size", f"{path} has more than {most} bytes")
    return data


def _report_unreadable(error: OSError) -> int:
    return _fail(MISSING if isinstance(error, FileNotFoundError) else FAILED, error)


def _fail(code: int, error: Exception) -> int:
    reason = error.reason if isinstance(error, ProofError) else "file"
    return _print(code, {"verified": False, "reason": reason, "message": str(error)})


def _print(code: int, result: object) -> int:
    try:
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        sys.stdout.flush()
    except OSError as error:
        sys.stderr.write(f"cannot write the result: {error.strerror}\n")
        # The interpreter flushes stdout at exit; without this the same error would be raised again there.
        sys.stdout = None
        return FAILED
    return code


if __name__ == "__main__":
    sys.exit(main())
