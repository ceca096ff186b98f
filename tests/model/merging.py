"""A plain implementation of merging for the reference, which records the values that each merge moved."""

from __future__ import annotations

from typing import Any

import cbor2

from engine.base.errors import ConflictError, InvalidInputError, RefusedError
from engine.base.validation import show_id
from engine.ledger.appender import Salts
from engine.text.analyzer import index_terms
from engine.text.simhash import fingerprint, near
from tests.model.reference import LIVE, Reference, Subject, identity

SUPERSEDES = b"\x04"
Given = tuple[dict[str, str], set[str], set[str]]
"""Tags by identity, buckets and aliases."""


class MergingReference(Reference):
    """A reference that also merges; it takes fingerprints from the engine, which have their own tests."""

    def __init__(self, salts: Salts, now: int) -> None:
        super().__init__(salts, now)
        self.reasons: dict[bytes, str] = {}
        self.given: dict[bytes, Given] = {}
        """By the key of a merge's edge, the values that the kept atom got from it and still has."""

    def saved(self) -> dict[str, Any]:
        """Return a copy of the whole state, with the records of merges, which are changed in place."""
        kept = {key: (dict(one[0]), set(one[1]), set(one[2])) for key, one in self.given.items()}
        return super().saved() | {"given": kept}

    def hide(self, atom: bytes, reason: str, *, hidden: bool) -> None:
        """Tombstone or revive the atom, and note the reason."""
        before = self._known(atom)
        super().hide(atom, reason, hidden=hidden)
        if before.state != hidden:
            self.reasons[atom] = reason if hidden else ""

    def tag(self, atom: bytes, tags: tuple[str, ...], *, there: bool) -> None:
        """Tag or untag as the plain reference; an untagged value no longer counts as moved by a merge."""
        super().tag(atom, tags, there=there)
        self._lose(atom)

    def _content(self, kind: int, atom: bytes, body: dict[str, Any], before: Subject | None) -> None:
        super()._content(kind, atom, body, before)
        self._lose(atom)

    def _lose(self, atom: bytes) -> None:
        body = self.atoms[atom].body
        has = set(map(identity, body["tags"]))
        for key, (tags, buckets, aliases) in self.given.items():
            if key.startswith(atom):
                for name in tags.keys() - has:
                    del tags[name]
                buckets.intersection_update(body["buckets"])
                aliases.intersection_update(body["aliases"] or ())

    def merge(self, keep: bytes, other: bytes, *, force: bool) -> None:
        """Merge `other` into `keep`."""
        kept, gone = self._known(keep), self._known(other)
        if keep == other:
            raise InvalidInputError("an atom into itself")
        if self._merged_into(other) == keep:
            return
        for atom in (keep, other):
            if self._merged_into(atom):
                raise ConflictError("merged already")
            self._live(atom)
        if self._has_edge(other, keep):
            raise ConflictError("superseded")
        if not force and not near(_fingerprint(kept), _fingerprint(gone)):
            raise RefusedError("not near")
        has = set(map(identity, kept.body["tags"]))
        tags = {identity(tag): tag for tag in gone.body["tags"] if identity(tag) not in has}
        buckets = set(gone.body["buckets"]) - set(kept.body["buckets"])
        known = kept.body["aliases"] or ()
        aliases = [alias for alias in gone.body["aliases"] or () if alias not in known]
        self.tag(keep, tuple(tags.values()), there=True)
        if buckets or aliases:
            both = tuple(sorted({*kept.body["buckets"], *buckets}))
            self.revise(keep, buckets=both, aliases=(*known, *aliases))
        self.hide(other, f"merged into {show_id(keep)}", hidden=True)
        self._note(keep, other, tags, buckets, set(aliases))

    def supersede(self, old: bytes, new: bytes, reason: str) -> None:
        """Replace `old` by `new`: an edge from the new atom, and a tag on the old one."""
        self._live(old), self._live(new)
        if old == new:
            raise InvalidInputError("an atom by itself")
        if self._has_edge(old, new):
            raise ConflictError("the other way round already")
        data = cbor2.dumps({"reason": reason}) if reason else b""
        self.link(new, "supersedes", old, 1.0, data)
        self.tag(old, ("superseded",), there=True)

    def _note(
        self, keep: bytes, other: bytes, tags: dict[str, str], buckets: set[str], aliases: set[str]
    ) -> None:
        key, replaced = keep + SUPERSEDES + other, None
        if self._has_edge(keep, other):
            edge = self.edges[key].body
            said = _merge_record(edge["data"])
            if said is None:
                replaced = [edge["weight"], edge["data"]]
            elif not tags and not buckets and not aliases:
                return
            else:
                replaced = said.get("replaced")
                tags, buckets = self.given[key][0] | tags, self.given[key][1] | buckets
                aliases = self.given[key][2] | aliases
            self.unlink(keep, "supersedes", other, "merged")
        merged = {"tags": [tags[name] for name in sorted(tags)], "buckets": sorted(buckets)}
        merged |= {"aliases": sorted(aliases)} if aliases else {}
        data = {"merged": merged} | ({} if replaced is None else {"replaced": replaced})
        self.link(keep, "supersedes", other, 1.0, cbor2.dumps(data, canonical=True))
        self.given[key] = (tags, buckets, aliases)

    def unmerge(self, other: bytes) -> None:
        """Restore `other` and remove from the kept atom the values that came from it."""
        if self._known(other).state == LIVE:
            return
        keep = self._merged_into(other)
        if keep is None:
            raise ConflictError("tombstoned otherwise")
        key = keep + SUPERSEDES + other
        tags, buckets, aliases = self.given[key]
        if tags or buckets or aliases:
            body = self._live(keep).body
            left = tuple(bucket for bucket in body["buckets"] if bucket not in buckets)
            self.tag(keep, tuple(tags.values()), there=False)
            names = tuple(alias for alias in body["aliases"] or () if alias not in aliases)
            self.revise(keep, buckets=left, aliases=names)
        self.hide(other, "unmerged", hidden=False)
        if self._has_edge(keep, other):
            self.unlink(keep, "supersedes", other, "unmerged")
            if replaced := (_merge_record(self.edges[key].body["data"]) or {}).get("replaced"):
                self.link(keep, "supersedes", other, *replaced)

    def _merged_into(self, other: bytes) -> bytes | None:
        if self.atoms[other].state == LIVE:
            return None
        for keep in self.atoms:
            edge = self.edges.get(keep + SUPERSEDES + other)
            merged = self.reasons[other] == f"merged into {show_id(keep)}"
            if merged and edge is not None and _merge_record(edge.body["data"]) is not None:
                return keep
        return None

    def _has_edge(self, src: bytes, dst: bytes) -> bool:
        edge = self.edges.get(src + SUPERSEDES + dst)
        return edge is not None and edge.state == LIVE


def _merge_record(data: bytes) -> dict[str, Any] | None:
    """Return the data of an edge if a merge wrote it; otherwise return None."""
    said = cbor2.loads(data) if data else None
    return said if isinstance(said, dict) and "merged" in said else None


def _fingerprint(atom: Subject) -> int:
    return fingerprint([*index_terms(atom.body["title"] or ""), *index_terms(atom.body["content"])])
