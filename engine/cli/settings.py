"""Which store a command means, and who said so.

The first that is there counts: `--store`, ENGINE_STORE, the nearest `.engine.toml` from the current
folder upwards, the user's `config.toml`, the default place. A relative path in a file counts
from that file's folder, any other from the current one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from engine.errors import InvalidInputError

PROJECT_FILE = ".engine.toml"
VARIABLE = "ENGINE_STORE"


class Setting(NamedTuple):
    """A store's URL and where it comes from."""

    url: str
    origin: str


def find_store(flag: str | None) -> Setting:
    """The store that `--store flag` (None: not given) and the surroundings name.

    Raises:
        InvalidInputError: a file cannot be read, is not TOML, or holds anything but `store = "…"`.
    """
    if flag is not None:
        return Setting(flag, "--store")
    if from_environment := os.environ.get(VARIABLE):
        return Setting(from_environment, VARIABLE)
    for folder in _upwards():
        if url := _read(folder / PROJECT_FILE):
            return Setting(url, str(folder / PROJECT_FILE))
    from platformdirs import user_config_path, user_data_path

    config = user_config_path("engine", appauthor=False) / "config.toml"
    if url := _read(config):
        return Setting(url, str(config))
    return Setting(str(user_data_path("engine", appauthor=False) / "store"), "default")


def _upwards() -> list[Path]:
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return []  # the current folder was deleted: it has no file either
    return [here, *here.parents]


def _read(file: Path) -> str | None:
    """The URL in a settings file, its path made absolute; None where there is no such file."""
    import tomllib

    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{file}: {error}", hint='it holds one line: store = "PATH or URL"'
        ) from error
    url = settings.pop("store", None)
    if settings or not isinstance(url, str) or not url:
        raise InvalidInputError(
            f'{file}: only `store = "…"` is known there', hint="remove the other settings, or give --store"
        )
    return _absolute(url, file.parent)


def _absolute(url: str, folder: Path) -> str:
    from backends import locate

    if url == "memory:":
        return url
    head = next((scheme for scheme in ("leveldb:", "sqlite:") if url.startswith(scheme)), "")
    if not head:
        locate(url)  # an unknown scheme is an error, not a file name
    return f"{head}{folder / Path(url.removeprefix(head)).expanduser()}"
