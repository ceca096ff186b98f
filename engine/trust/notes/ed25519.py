"""Ed25519 (RFC 8032), from the library `cryptography`, which is imported on first use."""

from __future__ import annotations

SEED_BYTES = 32


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return True if `signature`, 64 bytes, is a signature of `message` by the key `public`, 32 bytes.

    For invalid input, the result is False; no error is raised. The equation is checked without the cofactor,
    and S must be less than the order of the group. Keys of small order are treated as the library treats them
    (section 21 of SPEC lists the results for public test vectors).
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign(seed: bytes, message: bytes) -> bytes:
    """Return the deterministic 64-byte signature of `message` by the private key `seed` of 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def public_of(seed: bytes) -> bytes:
    """Return the public key, 32 bytes, of the private key `seed`."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
