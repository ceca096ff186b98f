"""The installed spaCy pipeline for English that the dreamer uses, if there is one.

spaCy is imported only when a sentence has to be parsed. Only packages that are registered as spaCy models are
considered, and of these only pipelines whose own description says that they are for English.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import InvalidInputError, SystemFailureError
from engine.base.validation import quoted

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

AUTO: Final = "auto"
"""The setting that takes the first pipeline for English, in the alphabetical order of the packages."""
NONE: Final = "none"
"""The setting that takes no pipeline."""

VARIABLE: Final = "ENGINE_PIPELINE"
"""The environment variable whose value replaces the setting `auto`."""

GROUP: Final = "spacy_models"
"""The group of entry points by which packages register spaCy pipelines."""

_NEEDED: Final = frozenset({"tagger", "parser", "lemmatizer", "ner"})
"""The components that a pipeline must have."""
_BATCH: Final = 64


class Pipeline(NamedTuple):
    """An installed pipeline for English."""

    package: str
    version: str

    @property
    def label(self) -> str:
        """The package and its version, as the origin of events names them."""
        return f"{self.package} {self.version}"


def find_pipeline(wanted: str) -> Pipeline | None:
    """Return the pipeline that the dreamer uses, or None if there is none. Nothing is imported.

    Raises:
        InvalidInputError: `wanted` names a package that is not an installed pipeline for English.
    """
    if wanted == AUTO:
        wanted = os.environ.get(VARIABLE) or AUTO
    if wanted == NONE:
        return None
    found = list(_installed())
    if wanted == AUTO:
        return found[0] if found else None
    for pipeline in found:
        if pipeline.package == wanted:
            return pipeline
    names = ", ".join(pipeline.package for pipeline in found) or "none"
    raise InvalidInputError(
        f"{quoted(wanted)} is not an installed spaCy pipeline for English; installed: {names}",
        hint="install spaCy with pip install 'memroot[nlp]', and a pipeline for English with pip",
    )


def _installed() -> Iterator[Pipeline]:
    """Yield the installed pipelines for English in the alphabetical order of their packages."""
    if importlib.util.find_spec("spacy") is None:
        return
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.value):
        package = entry.module
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        meta = _meta(Path(spec.origin).parent / "meta.json")
        components = meta.get("pipeline")
        if meta.get("lang") == "en" and isinstance(components, list) and _NEEDED.issubset(components):
            yield Pipeline(package, str(meta.get("version", "")))


def _meta(path: Path) -> dict[str, object]:
    """Return the description of a pipeline, or nothing if the package has no valid one."""
    try:
        meta = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}


class Parser:
    """Parses sentences with a pipeline, which is loaded for the first sentence."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.used: str | None = None
        """The package and version of the pipeline if it parsed a sentence, or None."""
        self._loaded: Language | None = None

    def parsed(self, sentences: Iterable[str]) -> list[Doc]:
        """Return the parses of sentences.

        Raises:
            SystemFailureError: spaCy cannot load the pipeline.
        """
        texts = list(sentences)
        if not texts:
            return []
        self.used = self.pipeline.label
        return list(self._nlp().pipe(texts, batch_size=_BATCH))

    def _nlp(self) -> Language:
        if self._loaded is None:
            try:
                import spacy

                self._loaded = spacy.load(self.pipeline.package)
            except (ImportError, OSError, ValueError) as error:
                raise SystemFailureError(
                    f"spaCy cannot load the pipeline {self.pipeline.label}: {error}",
                    hint=f"install a pipeline that fits this version of spaCy, or set {VARIABLE}=none",
                ) from error
        return self._loaded
