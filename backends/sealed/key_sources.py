"""Where the secret of a sealed store comes from, if the caller of `open_backend` gives none.

A secret never comes from an argument of a command or from a URL, which other users of the machine can see.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from importlib.util import find_spec
from pathlib import Path

from backends.errors import BackendLocked
from backends.sealed import COMMAND, FILE, ask
from backends.sealed.seal import Header, Seal

_SERVICE = "memroot"
"""The name under which the keyring of the system keeps secrets; the user name is the id of the key."""

_COMMAND_SECONDS = 60.0

_answers: dict[bytes, str] = {}
"""The id of a key → the secret that a person gave. A process opens the same store more than once."""


def unlocked(header: Header, key: str | Seal | None) -> Seal:
    """Return the key of a store.

    Args:
        header: The header of the store.
        key: A secret of the store, or the key of a store that may be a copy of it. If it is None, or another
            store's key, a secret is looked for.

    Raises:
        BackendLocked: there is no secret, or it is wrong.
    """
    if isinstance(key, str):
        return header.unlock(key)
    if key is not None and key.header.id == header.id:
        return key.with_header(header)
    secret, where = _answers.get(header.id), ""
    if secret is None:
        secret, where = given_secret() or _from_keyring(header) or (None, "")
    if secret is None and can_ask():
        secret = ask[0]("passphrase or recovery phrase")
        seal = header.unlock(secret)
        _answers[header.id] = secret
        return seal
    if secret is None:
        raise BackendLocked(
            "the store is sealed, and no key was given",
            hint=f"set {FILE} or {COMMAND}, or use a terminal (docs/sealed.md)",
        )
    try:
        return header.unlock(secret)
    except BackendLocked as error:
        raise BackendLocked(f"{error}{where}", hint=error.hint) from None


def can_ask() -> bool:
    """Return True if a person can be asked for a secret. The threads of a server never ask."""
    return bool(ask) and threading.current_thread() is threading.main_thread()


def given_secret(file: str = FILE, command: str = COMMAND) -> tuple[str, str] | None:
    """Return the secret that the environment gives, and where it comes from, or None if it gives none.

    Raises:
        BackendLocked: the file cannot be read, or the command fails.
    """
    if path := os.environ.get(file):
        try:
            return Path(path).read_text(encoding="utf-8").strip(), f"; it is from {file}"
        except UnicodeError as error:
            raise BackendLocked(f"the file in {file} is not text in UTF-8") from error
        except OSError as error:
            raise BackendLocked(f"the file in {file} cannot be read: {error.strerror}") from error
    if line := os.environ.get(command):
        return _printed(line, command), f"; it is from {command}"
    return None


def _printed(line: str, variable: str) -> str:
    """Run a command without a shell, and return the first line that it prints."""
    try:
        done = subprocess.run(  # noqa: S603  the owner of the process named the command
            shlex.split(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            timeout=_COMMAND_SECONDS, check=True,
        )  # fmt: skip
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        # The message of the error may have the command, which may have a secret.
        match error:
            case subprocess.CalledProcessError():
                why = f"it ended with exit code {error.returncode}"
            case FileNotFoundError() | IndexError():
                why = "the program was not found"
            case _:
                why = type(error).__name__
        raise BackendLocked(f"the command in {variable} failed: {why}") from None
    return done.stdout.partition("\n")[0]


def _from_keyring(header: Header) -> tuple[str, str] | None:
    """Return the secret that the keyring of the system has for this key, if the extra is installed."""
    if find_spec("keyring") is None:
        return None
    import keyring
    from keyring.errors import KeyringError, NoKeyringError

    try:
        secret = keyring.get_password(_SERVICE, header.id.hex())
    except NoKeyringError:
        return None
    except KeyringError as error:
        raise BackendLocked(f"the keyring of the system refuses: {type(error).__name__}") from error
    return None if secret is None else (secret, "; it is from the keyring of the system")
