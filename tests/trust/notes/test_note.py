"""Checkpoint notes are parsed strictly: each statement has exactly one text, and all others are refused."""

from __future__ import annotations

import base64
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proofs.errors import ProofError
from proofs.log import EMPTY_ROOT, SIZE_MAX
from proofs.note import (
    NOTE_BYTES_MAX,
    SIGNATURES_MAX,
    Checkpoint,
    Note,
    Signature,
    format_note,
    origin_of,
    parse_note,
    parse_signatures,
    store_id_of,
)
from proofs.vkey import FORMAT
from tests.trust.notes.support import CHECKPOINT, ORIGIN, note_bytes, signed

ROOT = base64.b64encode(CHECKPOINT.root).decode()
TEXT = f"{ORIGIN}\n7\n{ROOT}\n"
LINE = signed().line

names = st.text(
    st.characters(codec="utf-8", exclude_characters="+", exclude_categories=["Z", "C"]), min_size=1
)
signatures = st.builds(
    Signature, names, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=100)
)
checkpoints = st.one_of(
    st.builds(Checkpoint, names, st.integers(1, SIZE_MAX), st.binary(min_size=32, max_size=32)),
    st.builds(Checkpoint, names, st.just(0), st.just(EMPTY_ROOT)),
)
notes = st.builds(Note, checkpoints, st.lists(signatures, unique=True, max_size=20).map(tuple))


def note_or_reason(data: bytes) -> Note | str:
    """Return the note, or the reason for which it is refused."""
    try:
        return parse_note(data)
    except ProofError as error:
        return error.reason


@given(notes)
def test_what_is_formatted_is_read_back(note: Note) -> None:
    """A valid note is parsed back from its bytes unchanged."""
    assert parse_note(format_note(note)) == note


@given(st.binary(max_size=400) | st.text(alphabet="ab\n \u2014+=0179", max_size=80).map(str.encode))
@example(TEXT.encode())
@example((TEXT + "\n" + LINE).encode())
def test_any_bytes_are_a_note_or_a_proof_error(data: bytes) -> None:
    """Parsing any bytes gives a note with the same bytes, or a ProofError."""
    note = note_or_reason(data)
    assert note == "note" if isinstance(note, str) else format_note(note) == data


@given(st.integers(0, len((TEXT + "\n" + LINE).encode()) - 1), st.integers(1, 255))
def test_no_byte_can_be_changed_unnoticed(at: int, change: int) -> None:
    """A note with one changed byte is refused or has another meaning."""
    data = bytearray((TEXT + "\n" + LINE).encode())
    data[at] ^= change
    assert note_or_reason(bytes(data)) != Note(CHECKPOINT, (signed(),))


def padded(root: bytes) -> str:
    """Return Base64 of a root of any length."""
    return base64.b64encode(root).decode()


URL_ALPHABET = base64.urlsafe_b64encode(b"\xff" * 32).decode()

HOSTILE = {
    "nothing": "",
    "an empty line": "\n",
    "CRLF": TEXT.replace("\n", "\r\n"),
    "no last line end": TEXT[:-1],
    "no last line end after two signatures": TEXT + "\n" + LINE + signed(name="x").line[:-1],
    "CR in the origin": TEXT.replace("memroot", "mem\rroot"),
    "NUL in the origin": TEXT.replace("memroot", "mem\0root"),
    "escape in the origin": TEXT.replace("memroot", "\x1b[2Jmemroot"),
    "DEL in the origin": TEXT.replace("memroot", "mem\x7froot"),
    "byte order mark": "\ufeff" + TEXT,
    "zero-width space in the origin": TEXT.replace("memroot", "mem\u200broot"),
    "right-to-left override in the origin": TEXT.replace("memroot", "mem\u202eroot"),
    "soft hyphen in a name": TEXT + f"\n\u2014 a\u00adb {ROOT}\n",
    "tag character in a name": TEXT + f"\n\u2014 a\U000e0061 {ROOT}\n",
    "tab in the origin": TEXT.replace("memroot", "mem\troot"),
    "no origin": f"\n7\n{ROOT}\n",
    "origin over its bound": f"{'a' * 1025}\n7\n{ROOT}\n",
    "leading zero": f"{ORIGIN}\n07\n{ROOT}\n",
    "two zeros": f"{ORIGIN}\n00\n{padded(EMPTY_ROOT)}\n",
    "plus sign": f"{ORIGIN}\n+7\n{ROOT}\n",
    "negative size": f"{ORIGIN}\n-7\n{ROOT}\n",
    "space before the size": f"{ORIGIN}\n 7\n{ROOT}\n",
    "digits of another script": f"{ORIGIN}\n\u0667\n{ROOT}\n",
    "underscore in the size": f"{ORIGIN}\n1_0\n{ROOT}\n",
    "size in hexadecimal": f"{ORIGIN}\n0x7\n{ROOT}\n",
    "no size": f"{ORIGIN}\n\n{ROOT}\n",
    "size over its bound": f"{ORIGIN}\n{SIZE_MAX + 1}\n{ROOT}\n",
    "size of many digits": f"{ORIGIN}\n{'9' * 5000}\n{ROOT}\n",
    "size 0 with another root": f"{ORIGIN}\n0\n{ROOT}\n",
    "no root": f"{ORIGIN}\n7\n",
    "empty root": f"{ORIGIN}\n7\n\n",
    "root of 31 bytes": f"{ORIGIN}\n7\n{padded(bytes(31))}\n",
    "root of 33 bytes": f"{ORIGIN}\n7\n{padded(bytes(33))}\n",
    "root in hexadecimal": f"{ORIGIN}\n7\n{CHECKPOINT.root.hex()}\n",
    "root without padding": TEXT.replace("=", ""),
    "root with loose bits": f"{ORIGIN}\n7\n{padded(bytes(32))[:-2]}B=\n",
    "root with white space": f"{ORIGIN}\n7\n{ROOT[:8]} {ROOT[8:]}\n",
    "root in the URL alphabet": f"{ORIGIN}\n7\n{URL_ALPHABET}\n",
    "extension line": TEXT + "more\n",
    "extension line, signed": TEXT + "more\n\n" + LINE,
    "empty line and no signature": TEXT + "\n",
    "two empty lines": TEXT + "\n\n" + LINE,
    "signature without an empty line": TEXT + LINE,
    "text after the signatures": TEXT + "\n" + LINE + "more\n",
    "signatures after an empty line between them": TEXT + "\n" + LINE + "\n" + LINE,
    "the same line twice": TEXT + "\n" + LINE + LINE,
    "no dash": TEXT + "\n" + LINE.removeprefix("\u2014 "),
    "hyphen for the dash": TEXT + "\n" + LINE.replace("\u2014", "-"),
    "en dash for the dash": TEXT + "\n" + LINE.replace("\u2014", "\u2013"),
    "two spaces after the dash": TEXT + "\n" + LINE.replace("\u2014 ", "\u2014  "),
    "three parts": TEXT + "\n" + LINE.replace("\n", " more\n"),
    "no name": TEXT + f"\n\u2014  {ROOT}\n",
    "a plus in the name": TEXT + f"\n\u2014 a+b {ROOT}\n",
    "a no-break space in the name": TEXT + f"\n\u2014 a\u00a0b {ROOT}\n",
    "a name over its bound": TEXT + f"\n\u2014 {'a' * 1025} {ROOT}\n",
    "a key id alone": TEXT + f"\n\u2014 name {padded(bytes(4))}\n",
    "an empty signature": TEXT + "\n\u2014 name \n",
    "a signature that is not base64": TEXT + "\n\u2014 name AAAA*AAA\n",
    "a signature without padding": TEXT + "\n\u2014 name AAAAAAA\n",
    "a signature with loose bits": TEXT + "\n\u2014 name AAAAAAB=\n",
    "over the bound": TEXT + "\n" + f"\u2014 name {padded(bytes(NOTE_BYTES_MAX))}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_exactly_a_note_is_refused(name: str) -> None:
    """Texts that differ from a note in one detail are refused for their form."""
    with pytest.raises(ProofError) as caught:
        parse_note(HOSTILE[name].encode())
    assert caught.value.reason == "note"


def test_format_characters_are_those_of_unicode_14() -> None:
    """The format characters are of category Cf; later versions of Unicode only add to them."""
    ours = {char for char in map(chr, range(sys.maxunicode + 1)) if FORMAT.fullmatch(char)}
    theirs = {char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) == "Cf"}
    assert len(ours) == 163
    assert ours == theirs if unicodedata.unidata_version == "14.0.0" else ours <= theirs


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", TEXT.encode().replace(b"mem", b"\xc0\xaf"), TEXT.encode("utf-16")]
)
def test_what_is_not_utf8_is_refused(data: bytes) -> None:
    """Bytes that are not UTF-8 are refused."""
    with pytest.raises(ProofError, match="note"):
        parse_note(data)


@pytest.mark.parametrize("given", [None, TEXT, 7, [TEXT]])
def test_what_is_not_bytes_is_refused(given: object) -> None:
    """Values other than bytes are refused."""
    with pytest.raises(ProofError, match="note"):
        parse_note(given)  # type: ignore[arg-type]


def test_the_three_lines_alone_are_an_unsigned_checkpoint() -> None:
    """The text alone is a note without signatures."""
    assert parse_note(TEXT.encode()) == Note(CHECKPOINT)
    assert note_bytes() == TEXT.encode()


def test_as_many_signatures_as_allowed_are_read() -> None:
    """A note may have up to 100 signature lines of any type."""
    lines = [Signature("w", number.to_bytes(4, "big"), b"?") for number in range(SIGNATURES_MAX + 1)]
    assert len(parse_note(note_bytes(*lines[:-1])).signatures) == SIGNATURES_MAX
    with pytest.raises(ProofError, match="over 100"):
        note_bytes(*lines)


def test_sixteen_signatures_of_the_longest_type_are_read() -> None:
    """Sixteen lines of ML-DSA-44 (type 06: 2,420 bytes and a time), as C2SP requires, are accepted."""
    lines = [Signature("witness.example/w", bytes([number] * 4), bytes(2428)) for number in range(16)]
    assert len(parse_note(note_bytes(*lines)).signatures) == 16


def test_signature_lines_alone_are_read() -> None:
    """The signature lines of a witness's answer are parsed without the text."""
    assert parse_signatures(LINE.encode()) == (signed(),)
    with pytest.raises(ProofError, match="note"):
        parse_signatures(TEXT.encode())


def test_the_empty_log_has_the_root_of_rfc_6962() -> None:
    """The root of size 0 is SHA-256 of the empty string."""
    text = f"{ORIGIN}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
    assert parse_note(text.encode()).checkpoint == Checkpoint(ORIGIN, 0, EMPTY_ROOT)


@pytest.mark.parametrize(
    "note",
    [
        Note(Checkpoint("a\nb", 7, CHECKPOINT.root)),
        Note(Checkpoint("\ud800", 7, CHECKPOINT.root)),
        Note(Checkpoint(ORIGIN, -1, CHECKPOINT.root)),
        Note(Checkpoint(ORIGIN, True, CHECKPOINT.root)),
        Note(Checkpoint(ORIGIN, 7, b"")),
        Note(CHECKPOINT, (Signature("a b", bytes(4), b"?"),)),
        Note(CHECKPOINT, (Signature("a AAAAAAA=\n\u2014 b", bytes(4), b"?"),)),
        Note(CHECKPOINT, (Signature("a", bytes(3), b"?"),)),
        Note(CHECKPOINT, (signed(), signed())),
    ],
)
def test_a_note_that_breaks_a_rule_is_not_written(note: Note) -> None:
    """A note that could not be parsed back is refused when it is formatted."""
    with pytest.raises(ProofError, match="note"):
        format_note(note)


@given(st.binary(min_size=16, max_size=16))
def test_a_store_and_its_origin_name_each_other(store_id: bytes) -> None:
    """An origin contains the store's id, which can be read back from it."""
    assert store_id_of(origin_of(store_id)) == store_id


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "memroot.local/",
        ORIGIN.upper(),
        ORIGIN.replace("-", ""),
        ORIGIN.removeprefix("memroot.local/"),
        f"{ORIGIN} ",
        f"https://{ORIGIN}",
        "example.com/log",
        ORIGIN.replace("memroot.local/", "memroot.local/urn:uuid:"),
        None,
    ],
)
def test_other_origins_are_no_store_s(origin: str) -> None:
    """Only the exact spelling of a store's origin is accepted as one."""
    with pytest.raises(ProofError, match="origin"):
        store_id_of(origin)


@pytest.mark.parametrize("store_id", [b"", bytes(15), bytes(17), "memroot", None])
def test_other_widths_are_no_store_id(store_id: bytes) -> None:
    """A store id has 16 bytes."""
    with pytest.raises(ProofError, match="input"):
        origin_of(store_id)
