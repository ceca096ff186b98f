"""Checkpoint notes, unsigned, signed and cosigned; badly signed notes; and bytes that are not notes."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from engine.trust.notes.signing import public_key_of, sign_ed25519, verify_ed25519
from proofs.errors import ProofError
from proofs.log import EMPTY_ROOT
from proofs.note import (
    SIGNATURES_MAX,
    TIME_MAX,
    Checkpoint,
    Note,
    Signature,
    VerifiedSignature,
    cosignature_message,
    format_note,
    origin_of,
    parse_note,
    verify_signatures,
)
from proofs.vkey import COSIGNATURE, ED25519, VerifierKey, parse_vkey
from tests.reference.build import log_leaves
from tests.reference.world import mth
from tests.vectors.golden import golden

TIME = 1_700_000_000
DASH = "\u2014"


class Signer(NamedTuple):
    """A key made from a seed of 32 equal bytes."""

    name: str
    type: int
    seed: bytes

    @property
    def key(self) -> VerifierKey:
        """The public half of the key."""
        return VerifierKey(self.name, self.type, public_key_of(self.seed))

    def line(self, checkpoint: Checkpoint, time: int = TIME) -> Signature:
        """Return the signature line for a checkpoint."""
        if self.type == ED25519:
            return Signature(self.name, self.key.key_id, sign_ed25519(self.seed, checkpoint.text.encode()))
        raw = sign_ed25519(self.seed, cosignature_message(checkpoint, time))
        return Signature(self.name, self.key.key_id, time.to_bytes(8, "big") + raw)


def head() -> Checkpoint:
    """Return the checkpoint of the golden journal after its last checkpoint event."""
    size = golden().checkpoint + 1
    return Checkpoint(origin_of(golden().past.identity.store_id), size, mth(log_leaves(golden().rows[:size])))


def signers() -> dict[str, Signer]:
    """Return all keys by short names. Two of them have the same public key, under two names."""
    return {
        "log": Signer(head().origin, ED25519, b"\x33" * 32),
        "witness": Signer("witness.example/w", COSIGNATURE, b"\x44" * 32),
        "other witness": Signer("zeuge.example/ü", COSIGNATURE, b"\x55" * 32),
        "stranger": Signer("stranger", ED25519, b"\x66" * 32),
        "second name": Signer("second.example/w", COSIGNATURE, b"\x44" * 32),
    }


KNOWN = ("log", "witness", "other witness", "stranger")
"""The short names of the keys that a reader can know together."""


def notes() -> dict[str, Any]:
    """Return the contents of `notes.json`."""
    known = {name: {"seed": signer.seed.hex(), "vkey": signer.key.vkey} for name, signer in signers().items()}
    return {
        "keys": known,
        "valid": [accepted(*one) for one in valid()],
        "invalid": [refused(*one) for one in invalid()],
        "vkeys": [vkey_of(signer.key) for signer in signers().values()],
        "invalid vkeys": [{"what": what, "vkey": text} for what, text in invalid_vkeys().items()],
    }


def vkey_of(key: VerifierKey) -> dict[str, Any]:
    """Return a verifier key and its parts."""
    parts = {"name": key.name, "key_id": key.key_id.hex(), "type": key.type, "public": key.public.hex()}
    return {"vkey": key.vkey, **parts}


def invalid_vkeys() -> dict[str, str]:
    """Return descriptions of faults, and texts that are not verifier keys."""
    log, witness = signers()["log"].key, signers()["witness"].key
    name, key_id, key = witness.vkey.split("+", 2)
    found = {
        "nothing": "",
        "no key": f"{name}+{key_id}",
        "no name": f"+{key_id}+{key}",
        "a space in the name": VerifierKey("a b", COSIGNATURE, witness.public).vkey,
        "a name of 1,025 bytes": VerifierKey("n" * 1025, COSIGNATURE, witness.public).vkey,
        "a key id in upper case": f"{name}+{key_id.upper()}+{key}",
        "a key id of 7 digits": f"{name}+{key_id[1:]}+{key}",
        "the key id of another key": f"{name}+{log.key_id.hex()}+{key}",
        "a key with padding": f"{name}+{key_id}+{key}====",
        "a line's end after it": f"{witness.vkey}\n",
        "a key of 31 bytes": VerifierKey(name, COSIGNATURE, witness.public[:31]).vkey,
        "a key of 33 bytes": VerifierKey(name, COSIGNATURE, witness.public + b"\0").vkey,
    }
    others = {f"a key of type {one:02x}": VerifierKey(name, one, witness.public).vkey for one in OTHER_TYPES}
    return found | others


OTHER_TYPES = (0, 2, 3, 5, 6, 0xFF)
"""Types of keys that are neither that of a log nor that of a witness."""


def valid() -> Iterator[tuple[str, bytes, Sequence[str]]]:
    """Yield a description, the note, and the names of the known keys."""
    at, who = head(), signers()
    log, witness, other, stranger = (who[name].line(at) for name in KNOWN)
    empty = Checkpoint(at.origin, 0, EMPTY_ROOT)
    yield "unsigned", format_note(Note(at)), ()
    yield "unsigned, of a log without events", format_note(Note(empty)), ()
    yield "unsigned, of another origin", format_note(Note(Checkpoint("例え.example/log", 5, bytes(32)))), ()
    largest = Checkpoint(at.origin, (1 << 63) - 1, b"\xff" * 32)
    yield "unsigned, of the largest size", format_note(Note(largest)), ()
    yield "signed by the log", format_note(Note(at, (log,))), ("log",)
    yield "signed by the log, no key known", format_note(Note(at, (log,))), ()
    yield "signed and cosigned", format_note(Note(at, (log, witness, other))), KNOWN
    yield "cosigned first", format_note(Note(at, (witness, log))), ("log", "witness")
    yield "cosigned alone", format_note(Note(at, (witness,))), ("witness",)
    yield "a stranger's line, kept and not checked", format_note(Note(at, (stranger, log))), ("log",)
    twice = who["witness"].line(at, TIME + 60)
    yield "cosigned twice", format_note(Note(at, (log, witness, twice))), ("log", "witness")
    yield "cosigned in 1970", format_note(Note(at, (who["witness"].line(at, 0),))), ("witness",)
    latest = who["witness"].line(at, TIME_MAX)
    yield "cosigned at the largest time", format_note(Note(at, (latest,))), ("witness",)
    second = who["second name"].line(at)
    yield "cosigned by one key under two names", format_note(Note(at, (witness, second))), ("witness",)
    junk = Signature("stranger", b"\1\2\3\4", b"\xff")
    yield "a line of another type", format_note(Note(at, (log, junk))), ("log",)
    same_name = Signature(log.name, b"\1\2\3\4", bytes(64))
    yield "a line of the log's name and another key id", format_note(Note(at, (same_name, log))), ("log",)
    many = tuple(Signature(f"n{at}", b"abcd", b"\1") for at in range(SIGNATURES_MAX))
    yield "a hundred lines", format_note(Note(at, many)), ()
    yield "signed by the log, of no events", format_note(Note(empty, (who["log"].line(empty),))), ("log",)


def invalid() -> Iterator[tuple[str, bytes, Sequence[str]]]:
    """Yield a description of the fault, the bytes, and the names of the known keys."""
    yield from malformed()
    yield from badly_signed()


def malformed() -> Iterator[tuple[str, bytes, Sequence[str]]]:
    """Yield bytes that are not notes."""
    at = head()
    origin, size, root = at.origin, str(at.size), base64.b64encode(at.root).decode()
    text, line = at.text, signers()["log"].line(at).line
    texts = {
        "nothing": "",
        "an empty line": "\n",
        "no last line end": text[:-1],
        "two lines": f"{origin}\n{size}\n",
        "an extension line": f"{text}extension\n",
        "an empty line before it": f"\n{text}",
        "an empty line after it": f"{text}\n",
        "CRLF": text.replace("\n", "\r\n"),
        "a tab after the size": f"{origin}\n{size}\t\n{root}\n",
        "a delete character in the origin": f"{origin}\x7f\n{size}\n{root}\n",
        "no origin": f"\n{size}\n{root}\n",
        "an origin of 1,025 bytes": f"{'o' * 1025}\n{size}\n{root}\n",
        "no size": f"{origin}\n\n{root}\n",
        "a size with a zero before it": f"{origin}\n0{size}\n{root}\n",
        "a size with a plus": f"{origin}\n+{size}\n{root}\n",
        "a size with a space": f"{origin}\n {size}\n{root}\n",
        "a negative size": f"{origin}\n-1\n{root}\n",
        "a size in hex": f"{origin}\n0x38\n{root}\n",
        "a size of other digits": f"{origin}\n٥\n{root}\n",
        "a size of 2^63": f"{origin}\n{1 << 63}\n{root}\n",
        "no events and another root": f"{origin}\n0\n{root}\n",
        "no root": f"{origin}\n{size}\n\n",
        "a root without padding": f"{origin}\n{size}\n{root.rstrip('=')}\n",
        "a root with other last bits": f"{origin}\n{size}\n{noncanonical(root)}\n",
        "a root of 31 bytes": f"{origin}\n{size}\n{base64.b64encode(at.root[:31]).decode()}\n",
        "a root of 33 bytes": f"{origin}\n{size}\n{base64.b64encode(at.root + b'x').decode()}\n",
        "a root in the alphabet of URLs": f"{origin}\n{size}\n{'-_' * 21}8=\n",
        "a root with a space in it": f"{origin}\n{size}\n{root[:20]} {root[20:]}\n",
        "a line without a dash": f"{text}\n{line[2:]}",
        "a line with a hyphen": f"{text}\n-{line[1:]}",
        "a line without a name": f"{text}\n{DASH} {line.split()[-1]}\n",
        "a line without base64": f"{text}\n{DASH} {origin}\n",
        "two spaces in a line": f"{text}\n{line.replace(origin + ' ', origin + '  ')}",
        "a plus in the name": f"{text}\n{DASH} a+b {line.split()[-1]}\n",
        "a space of another sort in the name": f"{text}\n{DASH} a\u3000b {line.split()[-1]}\n",
        "a signature of the key id alone": f"{text}\n{DASH} a {base64.b64encode(b'abcd').decode()}\n",
        "base64 with a line's end in it": f"{text}\n{line[:-20]}\n{line[-20:]}",
        "the same line twice": f"{text}\n{line}{line}",
        "a line's end missing": f"{text}\n{line[:-1]}",
        "an empty line between lines": f"{text}\n{line}\n{DASH} a {line.split()[-1]}\n",
        "101 lines": f"{text}\n" + "".join(Signature(f"n{n}", b"abcd", b"\1").line for n in range(101)),
        "over 65,536 bytes": f"{text}\n" + Signature("n", b"abcd", bytes(49_100)).line,
        "a name of 1,025 bytes": f"{text}\n" + Signature("n" * 1025, b"abcd", b"\1").line,
    }
    for what, made in texts.items():
        yield what, made.encode(), ()
    yield "not UTF-8", text.encode().replace(b"memroot", b"mem\xffoot"), ()
    yield "a surrogate", text.encode().replace(b"memroot", b"mem\xed\xa0\x80oot"), ()
    yield "a byte order mark and no origin", b"\xef\xbb\xbf" + f"{size}\n{root}\n".encode(), ()
    yield "UTF-16", text.encode("utf-16-le"), ()


def noncanonical(text: str) -> str:
    """Return base64 whose unused last bits are not zero."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return text[:-2] + alphabet[alphabet.index(text[-2]) + 1] + text[-1]


def badly_signed() -> Iterator[tuple[str, bytes, Sequence[str]]]:
    """Yield notes in which the signature line of a known key does not verify."""
    at, who = head(), signers()
    log, witness = who["log"].line(at), who["witness"].line(at)
    more = at._replace(size=at.size + 1)
    fake = {
        "another size": Note(more, (log,)),
        "another root": Note(at._replace(root=bytes(32)), (log,)),
        "another origin": Note(at._replace(origin="elsewhere"), (log,)),
        "a bit of the signature flipped": Note(at, (changed(log, 5),)),
        "a bit of S flipped": Note(at, (changed(log, 40),)),
        "S plus the order of the group": Note(at, (log._replace(signature=with_large_s(log.signature)),)),
        "a signature a byte short": Note(at, (log._replace(signature=log.signature[:-1]),)),
        "a signature a byte long": Note(at, (log._replace(signature=log.signature + b"\0"),)),
        "a signature of zeros": Note(at, (log._replace(signature=bytes(64)),)),
        "the witness's signature under the log's key id": Note(
            at, (log._replace(signature=witness.signature),)
        ),
        "a good line of the witness beside a bad one of the log": Note(at, (witness, changed(log, 0))),
        "a cosignature with another time": Note(at, (log, changed(witness, 7))),
        "a cosignature of another size": Note(more, (who["log"].line(more), witness)),
        "a cosignature without its time": Note(at, (witness._replace(signature=witness.signature[8:]),)),
        "a log's signature by the witness's key": Note(at, (signed_plainly(who["witness"], at),)),
    }
    fake["a cosignature with a time of 2^63"] = Note(at, (who["witness"].line(at, TIME_MAX + 1),))
    for what, note in fake.items():
        yield what, format_note(note), ("log", "witness")
    both = format_note(Note(at, (witness, who["second name"].line(at))))
    yield "cosigned by one key under two names, both known", both, ("witness", "second name")
    yield "two names of one witness known", format_note(Note(at)), ("witness", "second name")


def changed(line: Signature, at: int) -> Signature:
    """Return a signature line with one bit of the signature flipped."""
    raw = line.signature
    return line._replace(signature=raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])


def with_large_s(signature: bytes) -> bytes:
    """Return a signature with S plus the order of the group, which RFC 8032 refuses."""
    order = (1 << 252) + 27742317777372353535851937790883648493
    return signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")


def signed_plainly(signer: Signer, at: Checkpoint) -> Signature:
    """Return a signature line in which a witness's key signs only the text, although the line has a time."""
    raw = TIME.to_bytes(8, "big") + sign_ed25519(signer.seed, at.text.encode())
    return Signature(signer.name, signer.key.key_id, raw)


def judged(data: bytes, vkeys: Sequence[str]) -> tuple[Note, tuple[VerifiedSignature | None, ...]]:
    """Parse a note, and return it with the results for its signature lines.

    Raises:
        ProofError: the note is refused.
    """
    note = parse_note(data)
    return note, verify_signatures(note, [parse_vkey(text) for text in vkeys], verify_ed25519)


def accepted(what: str, data: bytes, keys: Sequence[str]) -> dict[str, Any]:
    """Return a valid note with the values that are read from it."""
    note, lines = judged(data, [signers()[name].key.vkey for name in keys])
    listed = [
        {
            "name": line.name,
            "key_id": line.key_id.hex(),
            "known": found is not None,
            "time": found and found.time,
        }
        for line, found in zip(note.signatures, lines, strict=True)
    ]
    checkpoint = note.checkpoint
    said = {"origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root.hex()}
    return {"what": what, **spelt(data), "known": list(keys), **said, "signatures": listed}


def refused(what: str, data: bytes, keys: Sequence[str]) -> dict[str, Any]:
    """Return an invalid note with the reason of its refusal.

    Raises:
        AssertionError: the note is accepted.
    """
    try:
        judged(data, [signers()[name].key.vkey for name in keys])
    except ProofError as error:
        return {"what": what, **spelt(data), "known": list(keys), "reason": error.reason}
    raise AssertionError(f"accepted: {what}")


def spelt(data: bytes) -> dict[str, str]:
    """Return the bytes as text, or as hex if they are not UTF-8."""
    try:
        return {"note": data.decode()}
    except UnicodeDecodeError:
        return {"hex": data.hex()}
