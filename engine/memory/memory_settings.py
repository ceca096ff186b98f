"""The settings (store, memory in the store, mirror, treatment of secrets) and where each value was found.

The store is taken from the first of these places that names a store: the option `--store`, the variable
ENGINE_STORE, the nearest `.engine.toml` in the current folder or a folder above it, the user's `config.toml`.
If none of them names a store, a default location is used. A relative path in a settings file is resolved
against the folder of that file; other relative paths are resolved against the current folder.

The memory is looked up in the same order (`--memory`, ENGINE_MEMORY, settings files). A memory from a
settings file is used only if the store is taken from the same file. The secrets settings are looked up
separately, so a file may contain only secrets settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.base.errors import InvalidInputError, is_environment, system_failure
from engine.base.outside_files import user_folder

if TYPE_CHECKING:
    from engine.commands.secrets.policy import SecretsPolicy

PROJECT_FILE = ".engine.toml"
VARIABLE = "ENGINE_STORE"
MEMORY_VARIABLE = "ENGINE_MEMORY"
SECRETS_VARIABLE = "ENGINE_SECRETS"

REDACT = "redact"
"""The mode of the secret filter in a server for agents, unless a setting names another mode."""


class StoreSetting(NamedTuple):
    """The URL of the store, and the option, variable or file in which the URL is set."""

    url: str
    origin: str


class _Values(NamedTuple):
    """The values that are set in one settings file, or by one option or variable."""

    url: str | None
    origin: str
    mirror: Path | None = None
    memory: str | None = None
    secrets: object = None
    sync: Path | None = None


class MemorySetting(NamedTuple):
    """The name of a memory, and the option, variable or file that sets it."""

    name: str
    origin: str


def find_store(flag: str | None, memory: str | None = None) -> StoreSetting:
    """Return the store to open.

    Args:
        flag: The value of the option `--store`; None if the option is not given.
        memory: The value of the option `--memory`; None if the option is not given.

    Raises:
        InvalidInputError: A settings file cannot be read, is not TOML, or contains unknown settings; or the
            store cannot contain a memory of that name.
    """
    values, named = _find(flag), find_memory(flag, memory)
    if named is None:
        return StoreSetting(values.url or _default("store"), values.origin)
    from engine.store.named_places import memory_url

    # The default location is a store itself and may be in use, so named memories have a separate folder.
    return StoreSetting(memory_url(values.url or _default("memories"), named.name), values.origin)


def find_root(flag: str | None) -> StoreSetting:
    """Return the URL of the folder or file that contains all named memories. `find_store` adds a name to it.

    Raises:
        InvalidInputError: As for `find_store`.
    """
    values = _find(flag)
    return StoreSetting(values.url or _default("memories"), values.origin)


def find_served(flag: str | None, memory: str | None = None) -> StoreSetting:
    """Return the URL of everything that a service on this store serves. It has no name of a memory.

    The default is the store of `find_store`, or the root of `find_root` if a memory is named.

    Raises:
        InvalidInputError: As for `find_store`.
    """
    values = _find(flag)
    default = "store" if find_memory(flag, memory) is None else "memories"
    return StoreSetting(values.url or _default(default), values.origin)


def find_memory(flag: str | None, memory: str | None) -> MemorySetting | None:
    """Return the name of the memory and where it is set, or None if no memory is named.

    Raises:
        InvalidInputError: As for `find_store`.
    """
    if memory is not None:
        return MemorySetting(memory, "--memory")
    if from_environment := os.environ.get(MEMORY_VARIABLE):
        return MemorySetting(from_environment, MEMORY_VARIABLE)
    values = _find(flag)
    return None if values.memory is None else MemorySetting(values.memory, values.origin)


def find_secrets() -> tuple[SecretsPolicy | None, str]:
    """Return the secrets policy and where it is set; the policy is None if no setting contains a policy.

    Without a policy, secrets are treated as in the mode `off`. If ENGINE_SECRETS is set, its value is the
    mode. The kinds and patterns are taken from the nearest settings file with secrets settings.

    Raises:
        InvalidInputError: A settings file or ENGINE_SECRETS has a value that is not valid.
    """
    file = next((values for values in _files() if values.secrets is not None), None)
    from_environment = os.environ.get(SECRETS_VARIABLE)
    if file is None and not from_environment:
        return None, "default"
    from engine.commands.secrets.policy import SecretsPolicy, policy_of

    policy = SecretsPolicy() if file is None else policy_of(file.secrets, file.origin)
    if from_environment:
        return policy.with_mode(from_environment, SECRETS_VARIABLE), SECRETS_VARIABLE
    return policy, SECRETS_VARIABLE if file is None else file.origin


def find_secrets_for_agents(mode: str | None) -> SecretsPolicy | str:
    """Return the secrets policy of a server for agents. Unless a setting says otherwise, it redacts secrets.

    The mode is taken from the first of these that names a mode: `mode`, ENGINE_SECRETS, the nearest settings
    file with secrets settings. The default mode is `redact`. The kinds and patterns are taken from that
    settings file. If nothing is set, the result is the string `redact`, because importing the policy would
    delay a server's first answer.

    Raises:
        InvalidInputError: `mode`, a settings file or ENGINE_SECRETS has a value that is not valid.
    """
    file = next((values for values in _files() if values.secrets is not None), None)
    from_environment = os.environ.get(SECRETS_VARIABLE) or None
    if file is None and mode is None and from_environment is None:
        return REDACT
    from engine.commands.secrets.policy import SecretsPolicy, policy_of

    policy = SecretsPolicy(REDACT)
    if file is not None:
        named = isinstance(file.secrets, dict) and {"mode": REDACT, **file.secrets}
        policy = policy_of(named or file.secrets, file.origin)
    if mode is not None:
        return policy.with_mode(mode, "--secrets")
    return policy if from_environment is None else policy.with_mode(from_environment, SECRETS_VARIABLE)


def find_mirror(flag: str | None, memory: str | None = None) -> Path | None:
    """Return the folder in which the store is mirrored after each write, or None.

    The folder is taken only from the settings file that sets the store. The result is None if `--store` or
    ENGINE_STORE sets the store, or if the memory in use is not the memory that the file sets.

    Raises:
        InvalidInputError: As for `find_store`.
    """
    values, named = _find(flag), find_memory(flag, memory)
    return values.mirror if values.memory == (named and named.name) else None


def find_sync(flag: str | None, memory: str | None = None) -> Path | None:
    """Return the folder in which the devices of the store meet, or None. It is taken as by `find_mirror`.

    Raises:
        InvalidInputError: As for `find_store`.
    """
    values, named = _find(flag), find_memory(flag, memory)
    return values.sync if values.memory == (named and named.name) else None


def _find(flag: str | None) -> _Values:
    if flag is not None:
        if not flag.strip():
            raise InvalidInputError("--store is empty", hint="name a store, or omit --store")
        return _Values(flag, "--store")
    if from_environment := os.environ.get(VARIABLE):
        return _Values(from_environment, VARIABLE)
    return next((values for values in _files() if values.url is not None), _Values(None, "default"))


def _files() -> Iterator[_Values]:
    """Yield the values of each settings file, in the order of lookup."""
    for folder in _upwards():
        if values := _read(folder / PROJECT_FILE):
            yield values
    if values := _read(user_folder("XDG_CONFIG_HOME", "~/.config") / "config.toml"):
        yield values


def _default(name: str) -> str:
    return str(user_folder("XDG_DATA_HOME", "~/.local/share") / name)


def _upwards() -> list[Path]:
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return []  # the current folder was deleted, so it has no settings file either
    return [here, *here.parents]


def _read(file: Path) -> _Values | None:
    """Return the values of a settings file, with absolute paths, or None if there is no such file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and is_environment(error):
            raise system_failure(error, f"{file} cannot be read") from error
        raise _invalid(file, error) from error
    import tomllib  # takes 2 ms; most runs have no settings file

    try:
        settings = tomllib.loads(text)
    except ValueError as error:
        raise _invalid(file, error) from error
    texts = [settings.pop(name, None) for name in ("store", "mirror", "memory", "sync")]
    url, mirror, memory, sync = texts
    secrets = settings.pop("secrets", None)
    incomplete = url is None and (any(text is not None for text in texts) or secrets is None)
    if settings or incomplete or not all(text is None or _is_text(text) for text in texts):
        raise InvalidInputError(
            f'{file}: the only settings allowed are `secrets`, `store = "…"` and, together with '
            '`store`, `mirror = "…"`, `sync = "…"` and `memory = "…"`',
            hint="remove all other settings, or use --store",
        )
    folder, shared = (
        None if name is None else file.parent / Path(name).expanduser() for name in (mirror, sync)
    )
    place = None if url is None else _absolute(url, file.parent)
    return _Values(place, str(file), folder, memory, secrets, shared)


def _invalid(file: Path, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"{file}: {error}", hint='write store = "PATH or URL" and, to mirror the store, mirror = "DIR"'
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _absolute(url: str, folder: Path) -> str:
    from backends import locate

    if url == "memory:" or url.startswith(("postgresql:", "postgresql+")):
        return url
    head = next((scheme for scheme in ("leveldb:", "sqlite:") if url.startswith(scheme)), "")
    if not head:
        location = locate(
            url
        )  # raises an error for an unknown scheme, so that it is not taken for a file name
        head = f"{location.scheme}:" if location.memory else ""
    return f"{head}{folder / Path(url.removeprefix(head)).expanduser()}"
