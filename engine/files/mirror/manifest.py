"""The manifest of a mirror, `.engine-mirror.json`: the store, the root, and the generated files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.files.mirror.names import PATH
from engine.files.mirror.style import StyleName

MANIFEST: Final = ".engine-mirror.json"
FORMAT: Final = 1

_BYTES_MAX: Final = 1 << 30
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_FIELDS: Final = ["format", "store_id", "size", "root", "style", "tags", "files"]


class ManifestEntry(NamedTuple):
    """The entry of a page in the manifest."""

    sha256: str
    atoms: tuple[str, ...]


class Manifest(NamedTuple):
    """The content of a manifest: the store, its root when the journal had `size` events, and the pages.

    `tags` contains the tags that have a different name in the mirror: name in the mirror → case-folded tag.
    """

    store_id: str
    size: int
    root: str
    style: StyleName
    tags: Mapping[str, str]
    files: Mapping[str, ManifestEntry]


def encode(manifest: Manifest) -> bytes:
    """Return the manifest file, sorted, one page on each line; equal mirrors have equal bytes."""
    head = {
        "format": FORMAT,
        "store_id": manifest.store_id,
        "size": manifest.size,
        "root": manifest.root,
        "style": manifest.style.value,
        "tags": dict(sorted(manifest.tags.items())),
    }
    lines = [f"{_json(name)}: {_json(value)}," for name, value in head.items()]
    pages = [
        f"{_json(path)}: {_json({'sha256': listed.sha256, 'atoms': list(listed.atoms)})}"
        for path, listed in sorted(manifest.files.items())
    ]
    files = "{\n" + ",\n".join(pages) + "\n}" if pages else "{}"
    return '{{\n{}\n"files": {}\n}}\n'.format("\n".join(lines), files).encode()


def decode(raw: bytes) -> Manifest:
    """Return the manifest in a file.

    Raises:
        InvalidInputError: the file does not have this format, or a path in it is not a valid path of a page.
    """
    try:
        value = parse(raw, bytes_max=_BYTES_MAX)
    except JsonError as error:
        raise InvalidInputError(f"the manifest is {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError("the manifest is not a JSON object")
    if value.get("format") != FORMAT:
        raise InvalidInputError(f"the format is not {FORMAT}")
    if list(value) != _FIELDS:
        raise InvalidInputError(f"the fields must be {', '.join(_FIELDS)}")
    return Manifest(
        store_id=_text(value["store_id"], _UUID, "store_id"),
        size=_size(value["size"]),
        root=_text(value["root"], _HASH, "root"),
        style=_style(value["style"]),
        tags={str(name): str(tag) for name, tag in _object(value["tags"], "tags").items()},
        files={
            _text(path, PATH, "path"): _listed(listed)
            for path, listed in _object(value["files"], "files").items()
        },
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)


def _text(value: object, form: re.Pattern[str], what: str) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise InvalidInputError(f"the {what} {ascii(value)[:80]} is not valid")
    return value


def _size(value: object) -> int:
    if type(value) is not int or value < 1:
        raise InvalidInputError("the size is not a positive integer")
    return value


def _style(value: object) -> StyleName:
    if not isinstance(value, str) or value not in set(StyleName):
        raise InvalidInputError(f"the style {ascii(value)[:80]} is unknown")
    return StyleName(value)


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInputError(f"the {what} are not a JSON object")
    return value


def _listed(value: object) -> ManifestEntry:
    fields = _object(value, "pages")
    atoms = fields.get("atoms")
    if list(fields) != ["sha256", "atoms"] or not isinstance(atoms, list):
        raise InvalidInputError("the fields of a page must be sha256 and atoms")
    return ManifestEntry(
        _text(fields["sha256"], _HASH, "sha256"), tuple(_text(atom, _UUID, "atom") for atom in atoms)
    )
