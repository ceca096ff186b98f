"""The keys that the witnesses of a proof refer to, and their lookup in the opened trees."""

from __future__ import annotations

from proofs.errors import ProofError
from proofs.file import TREES, Opening, ProofFile
from proofs.hashing import key_digest, value_digest
from proofs.heads import check_presence
from proofs.opening import opening_root


class Lookups:
    """The values that witnesses give for keys. The values are unverified until `check` has returned."""

    def __init__(self) -> None:
        self._values: dict[str, dict[bytes, bytes | None]] = {namespace: {} for namespace in TREES}

    def require(self, namespace: str, key: bytes, value: bytes | None) -> None:
        """Require that `key` has `value` or, if `value` is None, that the tree does not contain `key`.

        Raises:
            ProofError: two witnesses give different values for `key` (`contradiction`).
        """
        if self._values[namespace].setdefault(key, value) != value:
            raise ProofError(
                "contradiction", f"two witnesses give different values for one key of {namespace}"
            )

    def check(self, proof: ProofFile, opening: Opening | None) -> None:
        """Check all requirements against the trees whose roots are in `opening`.

        Raises:
            ProofError: a requirement does not hold (`tree`, `shape`, `other-leaf`, `absent`), a tree is
                missing (`missing`), or the proof opens a tree that no claim needs (`unneeded`).
        """
        for namespace, values in self._values.items():
            tree = proof.trees[namespace]
            check_presence(tree, f"the opening of the tree of {namespace}", needed=bool(values))
            if tree is None or opening is None:
                continue
            digests = {
                key_digest(namespace, key): None if value is None else value_digest(namespace, value)
                for key, value in values.items()
            }
            if opening_root(digests, *tree) != opening.roots[namespace]:
                raise ProofError("tree", f"the opening does not hash to the root of {namespace}")
