"""What most tests of ingesting begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.ingest.folder import Folder, folder_of


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Folder]:
    """Return an empty folder with an empty store."""
    with folder_of(tmp_path) as folder:
        yield folder
