"""The text form of claims, for command lines and for lists in files (SPEC, section 20.2).

    atom ID [STATE] [sealed]                 no-atom ID
    edge SOURCE TYPE TARGET [STATE] [sealed] no-edge SOURCE TYPE TARGET
    tag ID TAG       no-tag ID TAG           tagged TAG        none-tagged TAG
    term TERM        no-term TERM            event SEQ [sealed]
    prefix SIZE ROOT                         root ROOT         prefix-root ROOT

An ID is a UUID, a ROOT is 64 hex digits, a TYPE is a built-in name or a code in hex, and a STATE is `live`
(the default), `tombstoned` or `erased`. With `sealed`, the proof does not open the payload. A TAG is the
identity of a tag, and a TERM is a term after analysis. Tags and terms are used unchanged, unless the caller
folds the case of tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import UUID

from proofs import claims as kinds
from proofs.claims import Claim
from proofs.errors import ProofError
from proofs.leaves import EdgeType, State

USAGE_OF_CLAIMS: Final = (
    "atom ID [STATE] [sealed] · no-atom ID · edge SOURCE TYPE TARGET [STATE] [sealed] · "
    "no-edge SOURCE TYPE TARGET · tag ID TAG · no-tag ID TAG · tagged TAG · none-tagged TAG · "
    "term TERM · no-term TERM · event SEQ [sealed] · prefix SIZE ROOT · root ROOT · prefix-root ROOT"
)
SEALED: Final = "sealed"
_STATES: Final = {state.name.lower(): state for state in State}
_TYPES: Final = {kind.name.lower(): bytes([kind]) for kind in EdgeType}
_CODE: Final = re.compile("(?:[0-9a-f]{2}){1,2}")
_ROOT: Final = re.compile("[0-9a-fA-F]{64}")
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,18}")


def _text(word: str) -> str:
    return word


def _tag(word: str) -> str:
    return word


def parse_claim(words: Sequence[str], identity: Callable[[str], str] = _text) -> Claim:
    """Parse a claim.

    Args:
        words: The name of a claim and its operands.
        identity: Converts the word for a tag to the tag's identity. The default leaves the word unchanged.

    Raises:
        ProofError: the words are not a claim (`input`); the message names the wrong word.
    """
    if not words or words[0] not in FORMS:
        named = repr(words[0]) if words else "no word"
        raise ProofError("input", f"{named} is not a claim; use one of {', '.join(FORMS)}")
    name, *operands = words
    kind, readers = FORMS[name]
    options: dict[str, Any] = {}
    if kind in _SEALABLE and operands and operands[-1] == SEALED:
        operands.pop()
        options["opened"] = False
    if kind in _STATED and len(operands) == len(readers) + 1:
        options["state"] = _state(operands.pop())
        if options["state"] is State.ERASED:
            options["opened"] = False
    if len(operands) != len(readers):
        raise ProofError(
            "input", f"{name} must be followed by {_word_count(len(readers))}, not {len(operands)}"
        )
    claim: Claim = kind(
        *((identity if read is _tag else read)(word) for read, word in zip(readers, operands, strict=True)),
        **options,
    )
    return claim


def words_of(claim: Claim) -> list[str]:
    """Return the words of `claim`. `parse_claim` turns these words into the same claim again."""
    name = next(name for name, (kind, _) in FORMS.items() if type(claim) is kind)
    match claim:
        case kinds.AtomIs() | kinds.EdgeIs():
            sealed = [SEALED] if not claim.opened and claim.state is not State.ERASED else []
            return [name, *_ids(claim), claim.state.name.lower(), *sealed]
        case kinds.EventIs():
            return [name, str(claim.seq), *([] if claim.opened else [SEALED])]
        case kinds.NoAtom() | kinds.NoEdge():
            return [name, *_ids(claim)]
        case kinds.HasTag() | kinds.LacksTag():
            return [name, str(UUID(bytes=claim.id)), claim.identity]
        case kinds.AtomsTagged() | kinds.NoneTagged():
            return [name, claim.identity]
        case kinds.AtomsMentioning() | kinds.NoneMentioning():
            return [name, claim.term]
        case kinds.LogBegins():
            return [name, str(claim.size), claim.root.hex()]
        case kinds.RootRecorded() | kinds.BeginsWithRoot():
            return [name, claim.root.hex()]


def type_name(code: bytes) -> str:
    """Return the name of a built-in edge type, or the code of a predicate in hex."""
    names = {word: name for name, word in _TYPES.items()}
    return names.get(code, code.hex())


def parse_root(word: str) -> bytes:
    """Parse a root of 64 hex digits.

    Raises:
        ProofError: the word does not have this form (`input`).
    """
    if not _ROOT.fullmatch(word):
        raise ProofError("input", f"{word!r} is not a root of 64 hex digits")
    return bytes.fromhex(word)


def parse_id(word: str) -> bytes:
    """Parse a UUID and return its 16 bytes.

    Raises:
        ProofError: the word is not a UUID (`input`).
    """
    try:
        return UUID(word).bytes
    except ValueError as error:
        raise ProofError("input", f"{word!r} is not a UUID") from error


def parse_number(word: str) -> int:
    """Parse a non-negative integer.

    Raises:
        ProofError: the word is not an integer from 0 to 10^19 − 1 (`input`).
    """
    if not _NUMBER.fullmatch(word):
        raise ProofError("input", f"{word!r} is not an integer from 0 to 10^19 - 1")
    return int(word)


def _word_count(words: int) -> str:
    return "1 word" if words == 1 else f"{words} words"


def _ids(claim: kinds.AtomIs | kinds.EdgeIs | kinds.NoAtom | kinds.NoEdge) -> list[str]:
    if isinstance(claim, (kinds.AtomIs, kinds.NoAtom)):
        return [str(UUID(bytes=claim.id))]
    return [str(UUID(bytes=claim.src)), type_name(claim.code), str(UUID(bytes=claim.dst))]


def _code(word: str) -> bytes:
    if word in _TYPES:
        return _TYPES[word]
    if not _CODE.fullmatch(word):
        raise ProofError(
            "input", f"{word!r} is not an edge type; use one of {', '.join(_TYPES)}, or a code in hex"
        )
    return bytes.fromhex(word)


def _state(word: str) -> State:
    if word not in _STATES:
        raise ProofError("input", f"{word!r} is not a state; use one of {', '.join(_STATES)}, or {SEALED}")
    return _STATES[word]


_EDGE: Final = (parse_id, _code, parse_id)
FORMS: Final[dict[str, tuple[type[Any], tuple[Callable[[str], Any], ...]]]] = {
    "atom": (kinds.AtomIs, (parse_id,)),
    "no-atom": (kinds.NoAtom, (parse_id,)),
    "edge": (kinds.EdgeIs, _EDGE),
    "no-edge": (kinds.NoEdge, _EDGE),
    "tag": (kinds.HasTag, (parse_id, _tag)),
    "no-tag": (kinds.LacksTag, (parse_id, _tag)),
    "tagged": (kinds.AtomsTagged, (_tag,)),
    "none-tagged": (kinds.NoneTagged, (_tag,)),
    "term": (kinds.AtomsMentioning, (_text,)),
    "no-term": (kinds.NoneMentioning, (_text,)),
    "event": (kinds.EventIs, (parse_number,)),
    "prefix": (kinds.LogBegins, (parse_number, parse_root)),
    "root": (kinds.RootRecorded, (parse_root,)),
    "prefix-root": (kinds.BeginsWithRoot, (parse_root,)),
}
"""Name of a claim → its class and the parser of each operand."""
_STATED: Final = (kinds.AtomIs, kinds.EdgeIs)
_SEALABLE: Final = (kinds.AtomIs, kinds.EdgeIs, kinds.EventIs)
