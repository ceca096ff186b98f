"""A page as one file that loads nothing: modules and styles stand in it, and its policy names their hashes.

The modules stay readable: each becomes a function that returns what it exports. This file knows only those
forms of JavaScript's module syntax that the modules of this folder use, and refuses all others:

    import { a, b as c } from "./other.mjs";      export { a } from "./other.mjs";
    export const a = …                            export function a            export class a
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "([\w./-]+)";\n', re.MULTILINE)
_REEXPORT: Final = re.compile(r'^export \{([^}]*)\} from "([\w./-]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.MULTILINE)
_LEFT: Final = re.compile(r"^\s*(?:import|export)\b.*|</script|<!--", re.MULTILINE | re.IGNORECASE)
_SCRIPT: Final = re.compile(r'<script type="module" src="([\w./-]+)"></script>')
_STYLE: Final = re.compile(r'<link rel="stylesheet" href="([\w./-]+)">')


def whole_page(name: str) -> str:
    """Return the page in the file `name` of this folder, with everything that it uses in it."""
    page = _read(FOLDER / name)
    styles = "".join(_read(FOLDER / style) for style in _STYLE.findall(page))
    (script,) = _SCRIPT.findall(page)
    code = "\n" + _linked(FOLDER / script)
    page = _STYLE.sub("", page)
    # Functions, because a replacement text would have its backslashes interpreted.
    page = page.replace("</head>", f"<style>{styles}</style>\n</head>", 1)
    page = _SCRIPT.sub(lambda _: f'<script type="module">{code}</script>', page)
    page = page.replace("script-src 'self'", f"script-src {_source(code)}", 1)
    return page.replace("style-src 'self'", f"style-src {_source(styles)}", 1)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _source(text: str) -> str:
    """Return the source expression of a content security policy that allows exactly `text`."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _linked(entry: Path) -> str:
    """Return a module and all modules that it imports, each after those that it imports."""
    parts: dict[Path, str] = {}
    _add(entry.resolve(), parts, ())
    return "\n".join(parts.values())


def _add(path: Path, parts: dict[Path, str], above: tuple[Path, ...]) -> None:
    if path in parts:
        return
    if path in above:
        raise ValueError(f"{path.name} imports itself through other modules")
    code = _read(path)
    for pattern in (_IMPORT, _REEXPORT):
        for _, other in pattern.findall(code):
            _add((path.parent / other).resolve(), parts, (*above, path))
    exported = [name for _, name in _EXPORT.findall(code)]
    exported += [name for names, _ in _REEXPORT.findall(code) for name in _names(names)]
    code = _REEXPORT.sub(lambda match: _bound(match, path), code)
    code = _IMPORT.sub(lambda match: _bound(match, path), code)
    code = _EXPORT.sub(r"\1 \2", code)
    if left := _LEFT.search(code):
        raise ValueError(f"{path.name} has {left[0].strip()!r}, which cannot stand in one file")
    name = _variable(path)
    parts[path] = f"const {name} = (() => {{\n{code}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _bound(match: re.Match[str], path: Path) -> str:
    """Return the statement that takes the names of an import from the object of another module."""
    names = ", ".join(name.replace(" as ", ": ") for name in _names(match[1]))
    return f"const {{ {names} }} = {_variable((path.parent / match[2]).resolve())};\n"


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _variable(path: Path) -> str:
    """Return the name of the variable that holds what a module exports."""
    return "module_" + re.sub(r"\W", "_", path.relative_to(FOLDER).with_suffix("").as_posix())
