"""The keys that the witnesses of a proof call for, and the trees they are then looked up in."""

from __future__ import annotations

from proofs.errors import ProofError
from proofs.file import TREES, Opening, ProofFile
from proofs.hashing import key_digest, value_digest
from proofs.heads import check_presence
from proofs.opening import opening_root


class Lookups:
    """What witnesses say of keys: nothing of it is known to be so before `check`."""

    def __init__(self) -> None:
        self._values: dict[str, dict[bytes, bytes | None]] = {namespace: {} for namespace in TREES}

    def require(self, namespace: str, key: bytes, value: bytes | None) -> None:
        """Note that a witness says that `key` has `value`, or with None, that the tree has no such key.

        Raises:
            ProofError: another one said something else (`contradiction`).
        """
        if self._values[namespace].setdefault(key, value) != value:
            raise ProofError("contradiction", f"two witnesses say different things of one key of {namespace}")

    def check(self, proof: ProofFile, opening: Opening | None) -> None:
        """Make sure that all that was said is so in the trees with the roots of `opening`.

        Raises:
            ProofError: it is not, or a tree is opened that no witness calls for.
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
                raise ProofError("tree", f"the opening does not lead to the root of {namespace}")
