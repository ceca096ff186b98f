"""The installed spaCy pipeline for English, if there is one, which recognises names in sentences.

spaCy is imported only when a sentence has to be read. Only packages that are registered as spaCy models are
considered, and of these only those for English. Of a pipeline, the component `ner` is loaded, with what it
builds upon: nothing parses.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, NamedTuple

from backends.errors import installing
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

_UNUSED: Final = ("tagger", "parser", "senter", "lemmatizer", "morphologizer", "attribute_ruler")
_NAMES: Final = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "LAW"})
"""The labels of what has a name of its own."""
_PEOPLES: Final = frozenset({"NORP", "LANGUAGE"})
"""The labels of nationalities and languages, which are capitalised as names are."""


class Seen(NamedTuple):
    """Words that a pipeline recognises in a sentence."""

    start: int
    """The first character."""
    end: int
    """The character after the last one."""
    is_name: bool
    """False for the name of a nationality or language."""


class Pipeline(NamedTuple):
    """An installed pipeline for English."""

    package: str
    version: str

    @property
    def label(self) -> str:
        """The package and its version, as the origin of events names them."""
        return f"{self.package} {self.version}"


def find_pipeline(wanted: str) -> Pipeline | None:
    """Return the pipeline that the dreamer uses, or None if none is installed. Nothing is imported.

    Raises:
        InvalidInputError: `wanted` names a package that is not an installed pipeline for English.
    """
    if wanted == AUTO:
        wanted = os.environ.get(VARIABLE) or AUTO
    if wanted == NONE:
        return None
    pipelines = list(_installed())
    if wanted == AUTO:
        return pipelines[0] if pipelines else None
    for pipeline in pipelines:
        if pipeline.package == wanted:
            return pipeline
    names = ", ".join(pipeline.package for pipeline in pipelines) or "none"
    raise InvalidInputError(
        f"{quoted(wanted)} is not an installed spaCy pipeline for English; installed: {names}",
        hint=f"install spaCy with {installing('nlp')}, and a pipeline for English with pip",
    )


def _installed() -> Iterator[Pipeline]:
    """Yield the installed pipelines for English in the alphabetical order of their packages."""
    if importlib.util.find_spec("spacy") is None:
        return
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.value):
        # The name of a pipeline begins with its language.
        if entry.name.startswith("en_") and entry.dist is not None:
            yield Pipeline(entry.module, entry.dist.version)


def _seen(doc: Doc) -> Iterator[Seen]:
    for one in doc.ents:
        if one.label_ in _NAMES or one.label_ in _PEOPLES:
            yield Seen(one.start_char, one.end_char, one.label_ in _NAMES)


class Recognizer:
    """Finds names in sentences with a pipeline, which is loaded for the first sentence."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.used: str | None = None
        """The package and version of the pipeline if it read a sentence, or None."""
        self._loaded: Language | None = None

    def names_in(self, sentences: Sequence[str]) -> list[list[Seen]]:
        """Return the names in each sentence.

        Raises:
            SystemFailureError: spaCy cannot load the pipeline.
        """
        if not sentences:
            return []
        self.used = self.pipeline.label
        return [list(_seen(doc)) for doc in self._nlp().pipe(sentences)]

    def _nlp(self) -> Language:
        if self._loaded is None:
            try:
                import spacy

                self._loaded = spacy.load(self.pipeline.package, exclude=_UNUSED)
            except (ImportError, OSError, ValueError) as error:
                raise SystemFailureError(
                    f"spaCy cannot load the pipeline {self.pipeline.label}: {error}",
                    hint=f"install a pipeline that fits this version of spaCy, or set {VARIABLE}=none",
                ) from error
        return self._loaded
