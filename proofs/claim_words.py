"""The text form of claims, for command lines and for lists in files (SPEC, section 20.2).

    atom ID [STATE] [sealed]                 no-atom ID
    edge SOURCE TYPE TARGET [STATE] [sealed] no-edge SOURCE TYPE TARGET
    tag ID TAG [STATE]                       no-tag ID TAG [STATE]
    in ID GROUP VALUE [STATE]                not-in ID GROUP VALUE [STATE]
    tagged TAG [RANGE]                       none-tagged TAG [RANGE]
    all GROUP VALUE [RANGE]                  none GROUP VALUE [RANGE]
    term TERM [RANGE]                        no-term TERM [RANGE]
    edges-from ID [TYPE]                     edges-to ID [TYPE]
    tags ID [STATE]                          event SEQ [sealed]
    prefix SIZE ROOT                         root ROOT         prefix-root ROOT
    seen STORE SIZE ROOT

An ID is a UUID in lower case, a ROOT is 64 lower-case hex digits, a TYPE is a built-in name or a code in hex,
and a STATE is `live` (the default), `tombstoned` or, for atoms and edges alone, `erased`. With `sealed`, the
proof does not open the payload. A TAG is the identity of a tag, and a TERM is a term after analysis. Tags and
terms are used unchanged, unless the caller folds the case of tags. A GROUP is `bucket`, `kind`, `provenance`,
`source` or `day`; in its VALUE, white space, control characters and `%` are written as `%` and the hex digits
of their UTF-8 bytes. A RANGE is `FIRST-LAST`, two ordinals: the claim is about these ordinals only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

from proofs import claims as kinds
from proofs import limits
from proofs.claims import Claim
from proofs.errors import ProofError
from proofs.forms import CONTROLS, WHITE_SPACE
from proofs.leaves import Direction, EdgeType, Group, State

USAGE_OF_CLAIMS: Final = (
    "atom ID [STATE] [sealed] · no-atom ID · edge SOURCE TYPE TARGET [STATE] [sealed] · "
    "no-edge SOURCE TYPE TARGET · tag ID TAG [STATE] · no-tag ID TAG [STATE] · in ID GROUP VALUE [STATE] · "
    "not-in ID GROUP VALUE [STATE] · tagged TAG [FIRST-LAST] · none-tagged TAG [FIRST-LAST] · "
    "all GROUP VALUE [FIRST-LAST] · none GROUP VALUE [FIRST-LAST] · term TERM [FIRST-LAST] · "
    "no-term TERM [FIRST-LAST] · edges-from ID [TYPE] · edges-to ID [TYPE] · tags ID [STATE] · "
    "event SEQ [sealed] · prefix SIZE ROOT · root ROOT · prefix-root ROOT · seen STORE SIZE ROOT"
)
SEALED: Final = "sealed"
_STATES: Final = {state.name.lower(): state for state in State}
_TYPES: Final = {kind.name.lower(): bytes([kind]) for kind in EdgeType}
_CODE: Final = re.compile("[0-9a-f]{2}|[0-9a-f]{16}")
_ROOT: Final = re.compile("[0-9a-f]{64}")
_ID: Final = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_SPECIAL: Final = re.compile(f"[%{WHITE_SPACE}{CONTROLS}]")
_ESCAPE: Final = re.compile(rb"%([0-9a-f]{2})")
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
    form = FORMS[name]
    options: dict[str, Any] = dict(form.fixed)
    if form.sealable and operands and operands[-1] == SEALED:
        operands.pop()
        options["opened"] = False
    if form.optional is not None and len(operands) == len(form.fields) + 1:
        options |= form.optional(operands.pop())
        if form.sealable and options["state"] is State.ERASED:
            options["opened"] = False
    if len(operands) != len(form.fields):
        raise ProofError(
            "input", f"{name} must be followed by {_word_count(len(form.fields))}, not {len(operands)}"
        )
    for (field, read), word in zip(form.fields.items(), operands, strict=True):
        options[field] = identity(word) if read is _tag else read(word)
    claim: Claim = form.kind(**options)
    return claim


def words_of(claim: Claim) -> list[str]:
    """Return the words of `claim`. `parse_claim` turns these words into the same claim again."""
    given: Any = claim
    name, form = next(item for item in FORMS.items() if _is_of(given, item[1]))
    words = [name, *(_WRITTEN.get(read, str)(getattr(given, field)) for field, read in form.fields.items())]
    match claim:
        case kinds.AtomIs() | kinds.EdgeIs() | kinds.HasTag() | kinds.LacksTag() | kinds.TagsOf():
            words.append(claim.state.name.lower())
        case kinds.EdgesOf() if claim.code is not None:
            words.append(type_name(claim.code))
        case kinds.AtomsTagged() | kinds.NoneTagged() | kinds.AtomsMentioning() | kinds.NoneMentioning():
            if (claim.first, claim.last) != (0, limits.ORDINAL_MAX):
                words.append(f"{claim.first}-{claim.last}")
    opens = not form.sealable or given.opened or words[-1] == State.ERASED.name.lower()
    return words if opens else [*words, SEALED]


def _is_of(claim: Any, form: _Form) -> bool:
    """Return whether the words of a claim have this form."""
    fixed = all(getattr(claim, field, None) == value for field, value in form.fixed.items())
    named = "group" not in form.fields or getattr(claim, "group", None) is not Group.TAG
    return type(claim) is form.kind and fixed and named


def type_name(code: bytes) -> str:
    """Return the name of a built-in edge type, or the code of a predicate in hex."""
    names = {word: name for name, word in _TYPES.items()}
    return names.get(code, code.hex())


def parse_root(word: str) -> bytes:
    """Parse a root of 64 lower-case hex digits.

    Raises:
        ProofError: the word does not have this form (`input`).
    """
    if not _ROOT.fullmatch(word):
        raise ProofError("input", f"{word!r} is not a root of 64 lower-case hex digits")
    return bytes.fromhex(word)


def parse_id(word: str) -> bytes:
    """Parse a UUID in its one spelling, lower case with dashes, and return its 16 bytes.

    Raises:
        ProofError: the word is not a UUID in this spelling (`input`).
    """
    if not _ID.fullmatch(word):
        raise ProofError("input", f"{word!r} is not a UUID in lower case, of the form 8-4-4-4-12")
    return bytes.fromhex(word.replace("-", ""))


def parse_number(word: str) -> int:
    """Parse a non-negative integer.

    Raises:
        ProofError: the word is not an integer from 0 to 10^19 − 1 (`input`).
    """
    if not _NUMBER.fullmatch(word):
        raise ProofError("input", f"{word!r} is not an integer from 0 to 10^19 - 1")
    return int(word)


def value_word(value: str) -> str:
    """Return the word that stands for the value of a group."""
    return _SPECIAL.sub(lambda found: "".join(f"%{byte:02x}" for byte in found[0].encode()), value)


def parse_value(word: str) -> str:
    """Return the value of a group for which a word stands (`value_word`).

    Raises:
        ProofError: no value has this word (`input`).
    """
    raw = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), word.encode(errors="replace"))
    value = raw.decode(errors="replace")
    if value_word(value) != word:
        raise ProofError(
            "input", f"{word!r} is not the word of a value; write white space, controls and % as %xx"
        )
    return value


def _word_count(words: int) -> str:
    return "1 word" if words == 1 else f"{words} words"


def _code(word: str) -> bytes:
    if word in _TYPES:
        return _TYPES[word]
    if not _CODE.fullmatch(word):
        raise ProofError(
            "input", f"{word!r} is not an edge type; use one of {', '.join(_TYPES)}, or a code in hex"
        )
    return bytes.fromhex(word)


def _group(word: str) -> Group:
    named = {group.name.lower(): group for group in kinds.VALUES if group is not Group.TAG}
    if word not in named:
        raise ProofError("input", f"{word!r} is not a group; use one of {', '.join(named)}")
    return named[word]


def _state(word: str) -> dict[str, Any]:
    if word not in _STATES:
        raise ProofError("input", f"{word!r} is not a state; use one of {', '.join(_STATES)}, or {SEALED}")
    return {"state": _STATES[word]}


def _typed(word: str) -> dict[str, Any]:
    return {"code": _code(word)}


def _range(word: str) -> dict[str, Any]:
    first, dash, last = word.partition("-")
    if not dash:
        raise ProofError("input", f"{word!r} is not a range of two ordinals, joined by -")
    return {"first": parse_number(first), "last": parse_number(last)}


_Reader = Callable[[str], Any]


class _Form(NamedTuple):
    """How the words of a claim are read."""

    kind: type[Any]
    fields: dict[str, _Reader]
    """Field of the claim → the parser of its word, in the order of the words."""
    optional: Callable[[str], dict[str, Any]] | None = None
    """Parses one more word, which may be left out, into fields of the claim."""
    sealable: bool = False
    fixed: Mapping[str, Any] = MappingProxyType({})
    """Fields of the claim that follow from its name."""


_ID_FIELD: Final[dict[str, _Reader]] = {"id": parse_id}
_EDGE: Final[dict[str, _Reader]] = {"src": parse_id, "code": _code, "dst": parse_id}
_OF_GROUP: Final[dict[str, _Reader]] = {"group": _group, "value": parse_value}
FORMS: Final[dict[str, _Form]] = {
    "atom": _Form(kinds.AtomIs, _ID_FIELD, _state, sealable=True),
    "no-atom": _Form(kinds.NoAtom, _ID_FIELD),
    "edge": _Form(kinds.EdgeIs, _EDGE, _state, sealable=True),
    "no-edge": _Form(kinds.NoEdge, _EDGE),
    "tag": _Form(kinds.HasTag, _ID_FIELD | {"value": _tag}, _state, fixed={"group": Group.TAG}),
    "no-tag": _Form(kinds.LacksTag, _ID_FIELD | {"value": _tag}, _state, fixed={"group": Group.TAG}),
    "in": _Form(kinds.HasTag, _ID_FIELD | _OF_GROUP, _state),
    "not-in": _Form(kinds.LacksTag, _ID_FIELD | _OF_GROUP, _state),
    "tagged": _Form(kinds.AtomsTagged, {"value": _tag}, _range, fixed={"group": Group.TAG}),
    "none-tagged": _Form(kinds.NoneTagged, {"value": _tag}, _range, fixed={"group": Group.TAG}),
    "all": _Form(kinds.AtomsTagged, _OF_GROUP, _range),
    "none": _Form(kinds.NoneTagged, _OF_GROUP, _range),
    "term": _Form(kinds.AtomsMentioning, {"term": _text}, _range),
    "no-term": _Form(kinds.NoneMentioning, {"term": _text}, _range),
    "edges-from": _Form(kinds.EdgesOf, _ID_FIELD, _typed, fixed={"direction": Direction.FROM}),
    "edges-to": _Form(kinds.EdgesOf, _ID_FIELD, _typed, fixed={"direction": Direction.TO}),
    "tags": _Form(kinds.TagsOf, _ID_FIELD, _state),
    "event": _Form(kinds.EventIs, {"seq": parse_number}, sealable=True),
    "prefix": _Form(kinds.LogBegins, {"size": parse_number, "root": parse_root}),
    "root": _Form(kinds.RootRecorded, {"root": parse_root}),
    "prefix-root": _Form(kinds.BeginsWithRoot, {"root": parse_root}),
    "seen": _Form(kinds.HeadSeen, {"store_id": parse_id, "size": parse_number, "root": parse_root}),
}
"""Name of a claim → its form."""
_WRITTEN: Final[dict[_Reader, Callable[[Any], str]]] = {
    parse_id: lambda raw: str(UUID(bytes=raw)),
    parse_root: bytes.hex,
    _code: type_name,
    _group: lambda group: group.name.lower(),
    parse_value: value_word,
}
"""The parser of a word → the function that writes the word; other words are written as text."""
