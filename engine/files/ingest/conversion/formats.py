"""The formats that are converted, and the result of a conversion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Final

EXTRA: Final = "files"
"""The extra of the distribution that installs the libraries for all these formats."""

LIBRARIES: Final = {
    "html": ("bs4", "lxml", "markdownify"),
    "pdf": ("pypdf",),
    "docx": ("mammoth", "bs4", "lxml", "markdownify"),
}
"""Format → the modules that convert it."""

CONVERTED_BYTES_MAX: Final = {"html": 16 << 20, "pdf": 256 << 20, "docx": 64 << 20}
"""Format → the maximum number of bytes of a file. A parsed HTML file takes about fifty times its size."""


OUT_OF_MEMORY: Final = 77
"""The exit code of the process that converts files if a file takes too much memory."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a file, with the title and the creation time that are stated in the file."""

    title: str | None
    created: str | None
    """The creation time in ISO 8601, or None if the file does not state a valid time."""
    pages: tuple[tuple[str | None, str], ...] | None
    """The heading and the text of each page, if the file consists of pages."""
    markdown: str
    """The whole text as Markdown, if the file does not consist of pages."""


@cache
def is_convertible(file_format: str) -> bool:
    """Return False if a library that is needed to convert this format is not installed, else True."""
    return all(find_spec(name) is not None for name in LIBRARIES.get(file_format, ()))
