"""Which store and which memory in it a command means, what becomes of secrets, and who said so.

The first that is there counts: `--store`, ENGINE_STORE, the nearest `.engine.toml` from the current
folder upwards, the user's `config.toml`, the default place. A relative path in a file counts
from that file's folder, any other from the current one.

A memory is named in the same order, but a file's counts only together with the store that it names.
What is said of secrets is looked for by itself: a file may say that alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.base.errors import InvalidInputError

if TYPE_CHECKING:
    from engine.secrets.policy import SecretsPolicy

PROJECT_FILE = ".engine.toml"
VARIABLE = "ENGINE_STORE"
MEMORY_VARIABLE = "ENGINE_MEMORY"
SECRETS_VARIABLE = "ENGINE_SECRETS"


class Setting(NamedTuple):
    """A store's URL and where it comes from."""

    url: str
    origin: str


class _Found(NamedTuple):
    url: str | None
    origin: str
    mirror: Path | None = None
    memory: str | None = None
    secrets: object = None


class Named(NamedTuple):
    """A memory's name and where it comes from."""

    name: str
    origin: str


def find_store(flag: str | None, memory: str | None = None) -> Setting:
    """The store that `--store flag`, `--memory memory` (None: not given) and the surroundings name.

    Raises:
        InvalidInputError: a file cannot be read, is not TOML, or holds what is not known there; or no
            memory of that name can be in that store.
    """
    found, named = _find(flag), find_memory(flag, memory)
    if named is None:
        return Setting(found.url or _default("store"), found.origin)
    from engine.store.named_places import memory_url

    # The default place is a store itself, perhaps one that is in use: memories have a folder of their own.
    return Setting(memory_url(found.url or _default("memories"), named.name), found.origin)


def find_root(flag: str | None) -> Setting:
    """What holds the named memories: the URL to which `find_store` adds the name.

    Raises:
        InvalidInputError: as `find_store`.
    """
    found = _find(flag)
    return Setting(found.url or _default("memories"), found.origin)


def find_memory(flag: str | None, memory: str | None) -> Named | None:
    """The memory that is meant, and who named it; None: the store has no named ones.

    Raises:
        InvalidInputError: as `find_store`.
    """
    if memory is not None:
        return Named(memory, "--memory")
    if from_environment := os.environ.get(MEMORY_VARIABLE):
        return Named(from_environment, MEMORY_VARIABLE)
    found = _find(flag)
    return None if found.memory is None else Named(found.memory, found.origin)


def find_secrets() -> tuple[SecretsPolicy | None, str]:
    """What is to become of secrets, and who said so; None where nobody did: nothing.

    ENGINE_SECRETS says the mode; kinds and patterns are those of the nearest file that speaks of secrets.

    Raises:
        InvalidInputError: a file or the variable says something that is not known.
    """
    told = next((found for found in _files() if found.secrets is not None), None)
    from_environment = os.environ.get(SECRETS_VARIABLE)
    if told is None and not from_environment:
        return None, "default"
    from engine.secrets.policy import SecretsPolicy, policy_of

    policy = SecretsPolicy() if told is None else policy_of(told.secrets, told.origin)
    if from_environment:
        return policy.with_mode(from_environment, SECRETS_VARIABLE), SECRETS_VARIABLE
    return policy, SECRETS_VARIABLE if told is None else told.origin


def find_mirror(flag: str | None, memory: str | None = None) -> Path | None:
    """The folder in which the store is to be mirrored after it was written to.

    Only the file that names the store names it: where `--store` or ENGINE_STORE does, there is none, nor
    where another memory is named than by that file.

    Raises:
        InvalidInputError: as `find_store`.
    """
    found, named = _find(flag), find_memory(flag, memory)
    return found.mirror if found.memory == (named and named.name) else None


def _find(flag: str | None) -> _Found:
    if flag is not None:
        return _Found(flag, "--store")
    if from_environment := os.environ.get(VARIABLE):
        return _Found(from_environment, VARIABLE)
    return next((found for found in _files() if found.url is not None), _Found(None, "default"))


def _files() -> Iterator[_Found]:
    """What the settings files say, the nearest first."""
    for folder in _upwards():
        if found := _read(folder / PROJECT_FILE):
            yield found
    from platformdirs import user_config_path

    if found := _read(user_config_path("engine", appauthor=False) / "config.toml"):
        yield found


def _default(name: str) -> str:
    from platformdirs import user_data_path

    return str(user_data_path("engine", appauthor=False) / name)


def _upwards() -> list[Path]:
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return []  # the current folder was deleted: it has no file either
    return [here, *here.parents]


def _read(file: Path) -> _Found | None:
    """What a settings file says, its paths made absolute; None where there is no such file."""
    import tomllib

    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{file}: {error}", hint='it holds the line store = "PATH or URL", and mirror = "DIR" if wanted'
        ) from error
    texts = [settings.pop(name, None) for name in ("store", "mirror", "memory")]
    url, mirror, memory = texts
    secrets = settings.pop("secrets", None)
    alone = url is None and (mirror is not None or memory is not None or secrets is None)
    if settings or alone or not all(text is None or _is_text(text) for text in texts):
        raise InvalidInputError(
            f'{file}: only `store = "…"`, beside it `mirror = "…"` and `memory = "…"`, and `secrets` '
            "are known there",
            hint="remove the other settings, or give --store",
        )
    folder = None if mirror is None else file.parent / Path(mirror).expanduser()
    place = None if url is None else _absolute(url, file.parent)
    return _Found(place, str(file), folder, memory, secrets)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _absolute(url: str, folder: Path) -> str:
    from backends import locate

    if url == "memory:":
        return url
    head = next((scheme for scheme in ("leveldb:", "sqlite:") if url.startswith(scheme)), "")
    if not head:
        location = locate(url)  # an unknown scheme is an error, not a file name
        head = f"{location.scheme}:" if location.memory else ""
    return f"{head}{folder / Path(url.removeprefix(head)).expanduser()}"
