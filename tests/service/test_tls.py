"""Encryption: certificates and keys, and the handshake."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine.base.errors import EngineError, InvalidInputError, NotFoundError, RefusedError
from engine.service.listening import Limits, Settings, listening
from tests.service.raw import TIMEOUT, Served, rest_of, serving, status_of


def new_key() -> ec.EllipticCurvePrivateKey:
    """Return a new private key."""
    return ec.generate_private_key(ec.SECP256R1())


def pem_of(key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> bytes:
    """Return a private key in PEM."""
    locked = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)


def certificate_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a certificate for localhost in PEM."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    today = dt.datetime.now(dt.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return built.public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate and its key."""
    key = new_key()
    certificate, secret = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_bytes(certificate_of(key))
    secret.touch(0o600)
    secret.write_bytes(pem_of(key))
    return certificate, secret


def settings_of(files: tuple[Path, Path], **limits: float) -> Settings:
    """Settings with TLS."""
    return Settings(certificate=files[0], key=files[1], limits=Limits(**limits))  # type: ignore[arg-type]


def test_a_client_that_trusts_the_certificate_is_served(files: tuple[Path, Path]) -> None:
    """A request over TLS is answered, and the application knows that it was encrypted."""
    trusting = ssl.create_default_context(cafile=files[0])
    trusting.set_alpn_protocols(["h2", "http/1.1"])
    with serving(settings_of(files)) as served:
        with (
            served.connect() as plain,
            trusting.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            assert connection.selected_alpn_protocol() == "http/1.1"
            connection.sendall(served.head("/echo", "Connection: close"))
            answer = rest_of(connection)
        assert served.listener.url == f"https://127.0.0.1:{served.port}"
    assert status_of(answer) == 200
    assert b'"scheme": "https"' in answer


def test_the_key_may_be_in_the_file_of_the_certificate(files: tuple[Path, Path]) -> None:
    """One file with both is enough."""
    certificate, key = files
    key.write_bytes(key.read_bytes() + certificate.read_bytes())
    with listening(Settings(certificate=key)) as listener:
        assert listener.scheme == "https"


def test_old_versions_of_tls_are_refused(files: tuple[Path, Path]) -> None:
    """A client that offers TLS 1.1 at most gets no connection."""
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("DEFAULT@SECLEVEL=0")
    with serving(settings_of(files)) as served, served.connect() as plain, pytest.raises(ssl.SSLError):
        old.wrap_socket(plain)


def test_connections_without_a_handshake_do_not_keep_out_others(files: tuple[Path, Path]) -> None:
    """A connection counts before its handshake; strangers that never begin one make room."""
    trusting = ssl.create_default_context(cafile=files[0])
    with serving(settings_of(files, connections=5)) as served:
        idle = [served.connect() for _ in range(50)]
        with (
            served.connect() as plain,
            trusting.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            connection.sendall(served.head("/echo", "Connection: close"))
            assert status_of(rest_of(connection)) == 200
        for other in idle:
            other.close()


@pytest.mark.parametrize("sent", [b"", b"\x16\x03", b"GET / HTTP/1.1\r\n\r\n"])
def test_a_handshake_that_does_not_end_is_timed_out(files: tuple[Path, Path], sent: bytes) -> None:
    """A client that does not complete the handshake is closed without an answer in HTTP."""
    with serving(settings_of(files, head_seconds=0.2)) as served:
        assert b"HTTP" not in served.raw(sent)


def served_certificate(served: Served) -> bytes:
    """Return the certificate that a new connection gets."""
    asking = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asking.check_hostname, asking.verify_mode = False, ssl.CERT_NONE
    with served.connect() as plain, asking.wrap_socket(plain) as connection:
        found = connection.getpeercert(binary_form=True)
    assert found is not None
    return found


def test_a_renewed_certificate_is_used_without_a_restart(files: tuple[Path, Path]) -> None:
    """New connections get the new certificate. Files that do not fit each other change nothing."""
    with serving(settings_of(files)) as served:
        encryption = served.listener.encryption
        assert encryption is not None
        old = served_certificate(served)
        key = new_key()
        files[1].write_bytes(pem_of(key))
        with pytest.raises(InvalidInputError, match="does not belong"):
            encryption.renew()
        encryption.renew()  # says it once
        assert served_certificate(served) == old
        files[0].write_bytes(certificate_of(key))
        encryption.renew()
        assert served_certificate(served) == ssl.PEM_cert_to_DER_cert(files[0].read_text())


def refusal(error: type[EngineError], certificate: Path, key: Path | None) -> str:
    """Return the message with which a server does not start."""
    with pytest.raises(error) as caught, listening(Settings(certificate=certificate, key=key)):
        pass
    return f"{caught.value} ({caught.value.hint})"


def test_a_key_of_another_certificate_is_refused(files: tuple[Path, Path]) -> None:
    """The error says that the two do not belong together, and names both files."""
    files[1].write_bytes(pem_of(new_key()))
    assert "does not belong to the certificate" in refusal(InvalidInputError, *files)
    assert str(files[1]) in refusal(InvalidInputError, *files)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(files: tuple[Path, Path], mode: int) -> None:
    """The error names the command that protects the key."""
    files[1].chmod(mode)
    assert f"chmod 600 {files[1]}" in refusal(RefusedError, *files)


def test_an_encrypted_key_is_refused(files: tuple[Path, Path]) -> None:
    """The server never waits for a password."""
    files[1].write_bytes(pem_of(new_key(), b"password"))
    assert "is encrypted" in refusal(InvalidInputError, *files)


def test_files_that_are_none_are_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    """A missing file, a folder and a file with something else are told apart."""
    assert "there is no file" in refusal(NotFoundError, tmp_path / "none", files[1])
    assert "is a folder" in refusal(InvalidInputError, files[0], tmp_path)
    files[0].write_text("nothing")
    assert "in PEM" in refusal(InvalidInputError, *files)


def test_a_key_alone_is_refused(files: tuple[Path, Path]) -> None:
    """A key without a certificate is an error, not plain HTTP."""
    with pytest.raises(InvalidInputError, match="without a certificate"), listening(Settings(key=files[1])):
        pass


def test_a_server_with_tls_may_serve_other_machines(files: tuple[Path, Path]) -> None:
    """With a certificate, any address is allowed."""
    settings = Settings(host="0.0.0.0", certificate=files[0], key=files[1])  # noqa: S104
    with listening(settings) as listener, socket.create_connection(("127.0.0.1", listener.port), TIMEOUT):
        assert listener.scheme == "https"
