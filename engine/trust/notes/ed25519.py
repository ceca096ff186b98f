"""Ed25519 (RFC 8032), by the library `cryptography`, which is imported when it is first needed."""

from __future__ import annotations

SEED_BYTES = 32


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature`, 64 bytes, is one of `message` by the key `public`, 32 bytes; raises nothing.

    The equation is checked without the cofactor, S must be below the order of the group, and what the
    library does with keys of small order is what it does (SPEC: 21 has the verdicts on public vectors).
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign(seed: bytes, message: bytes) -> bytes:
    """The 64-byte signature of `message` by the private key `seed`, 32 bytes: always the same."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def public_of(seed: bytes) -> bytes:
    """The public key, 32 bytes, of the private key `seed`."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
