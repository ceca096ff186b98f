"""The mutants that no test catches, and why none has to."""

from __future__ import annotations

from typing import Final

_ORDER: Final = "writes are lost from the end only, and what is lost is done again"

_LOCKED: Final = "no other process writes while the store is locked"

_LAG: Final = "followers that lag are updated before they are read"

_MEMORY: Final = "only memory is kept for longer, or filled again"

_TOLD: Final = "only the person who waits is told less"

_BEFORE: Final = (
    "cbor2, or the comparison with the re-encoded bytes, refuses it too; the check comes before decoding"
)

_TYPES: Final = "never true: needed by the type checker"

_STORES: Final = "verification does not call this function; needed where stores are read and written"

ARGUED: Final = {
    "engine.followers.base": {
        "_is_at: _decode_cursor(raw, follower.name): no call": "catching up decodes it, too",
        "catch_up: cursor.size >= stop: never": "no entries are left, and none end the loop, too",
        "catch_up: reached >= stop: never": "the next round finds nothing to do",
        "drop: backend.write(batch, durable=True): not durable": _ORDER,
        "catch_up_at_once: guards: always": "an empty batch changes nothing",
        "catch_up_at_once: log.size - cursor.size > AT_ONCE_EVENTS_MAX: never": (
            "more events are processed in one batch, with the same rows"
        ),
    },
    "engine.store.maintenance": {
        "_check_journal: erased: always": "the events are checked as well, only more slowly",
        "_check_journal: progress(at // 2, log.size): no call": _TOLD,
        "_check_journal: backend.write(corrected, guard=guard, durable=True): not durable": _ORDER,
        "_correct_erasures: backend.write(batch, guard=guard, durable=True): not durable": _ORDER,
        "_later_erasures: len(row) == len(encode_seq(size)) and row >= encode_seq(size): always": (
            "the row of an earlier event explains no missing payload, so the rebuild still fails"
        ),
        "_later_erasures: not named: never": "the payloads are read, and nothing is looked up in them",
        "check_copy: progress(size, size): no call": _TOLD,
        "copy: erased: always": "the files are rewritten although nothing in them was destroyed",
        "rebuild: progress((size + at) // 2, size): no call": _TOLD,
        "rebuild: progress(size, size): no call": _TOLD,
        "rebuild: store.follow_together(*store.projections, stop=at): no call": (
            "`follow` computes the same rows, one projection after the other"
        ),
        "rebuild: store.recent.add(entries): no call": _MEMORY,
    },
    "engine.erase.destroy": {
        "carry_out: edges: always": _LAG,
        "carry_out: edges: never": _LAG,
        "carry_out: progress('events'): no call": _TOLD,
        "carry_out: store.follow(more=True): no call": _LAG,
        "carry_out: store.recent.clear(): no call": (
            "followers that read the content from memory remove it again, as those that were not behind do"
        ),
        "finish: progress('files'): no call": _TOLD,
        "finish: progress('followers'): no call": _TOLD,
        "finish: store.backend.write(done, guard=Guard(ERASING, row), durable=True): no guard": _LOCKED,
        "finish: store.backend.write(done, guard=Guard(ERASING, row), durable=True): not durable": _ORDER,
    },
    "engine.store.commit": {
        "_drop: count == len(self._entries): never": "the sum is the same, only slower",
    },
    "engine.store.bulk": {
        "_follow_more: store.follow(more=True): no call": _LAG,
        "commit_many: followers.wait(): no call": _LAG,
        "commit_many: _follow_more(store): no call": _LAG,
        "commit_many: behind < limits.FOLLOW_EVENTS_MAX // 2: never": _LAG,
    },
    "engine.store.views": {
        "_catch_up_all: followers: always": "more followers are updated than are needed",
        "follow: more and (not followers): never": _LAG,
        "follow: catch_up_together(self.backend, self.read, self.followers, stop=stop): no call": _LAG,
        "follow: not followers and stop is None and (not more): always": _MEMORY,
        "unless_unwritable: self._missing_rows is not None: never": _MEMORY,
        "unless_unwritable: self._missing_rows.drop(): no call": _MEMORY,
        "_view_in_memory: self._missing_rows is None: always": _MEMORY,
        "view: not are_current(rows, read_log(rows), (self.records, *followers)): never": (
            "no other process appends while the store is locked"
        ),
    },
    "proofs.basis": {
        "checkpoint_in: recorded_root(header): no call": "both callers read the root themselves",
        "header_in: type(seq) is not int: never": "decode_header refuses the same for the same reason",
    },
    "proofs.codec": {
        "unpack: not same: never": "`decode_strict` has checked every head; needed where stores are read",
        "decode_header: value[1] != seq: never": (
            "a header is read at its own seq; needed where stores are read"
        ),
    },
    "proofs.envelope": {
        "decode: type(whole[1]) is not int: never": "`decode_strict` refuses floats and booleans",
    },
    "proofs.forms": {
        "__init__: super().__init__(message): no call": "BaseException.__new__ keeps the message, too"
    },
    "proofs.leaves": {"decode_summary: not fits(summary, size): never": _STORES},
    "proofs.log": {
        "append: _check_leaf(leaf): no call": _STORES,
        "root_of: _check_leaf(leaf): no call": _STORES,
        "_both_roots: not last: never": "an extra hash changes the older root",
    },
    "proofs.proof_file": {
        "_check_heads: at > len(raw): never": _BEFORE,
        "_check_heads: at < len(raw): never": _BEFORE,
        "_number: end > len(raw) or number < _LEAST[info - 24]: never": _BEFORE,
        "_number: end > len(raw): never": _BEFORE,
        "_number: number < _LEAST[info - 24]: never": _BEFORE,
        "split_path: type(raw) is not bytes: never": _TYPES,
        "decode: type(whole[1]) is not int: never": "true and 1.0 equal 1, but `decode_strict` refuses both",
    },
    "proofs.smt": {
        "_take: len(taken) != count: never": "the bytes taken are counted, and `finish` compares the count",
    },
    "proofs.verifier": {
        "_leaf_claim: ProofError: no raise": _TYPES,
        "_list_claim: index is None: never": _TYPES,
        "_list_claim: ProofError: no raise": _TYPES,
    },
}
"""Module → the name of a surviving mutant → why nothing has to catch it. Only the tests that run its line are
tried on it."""
