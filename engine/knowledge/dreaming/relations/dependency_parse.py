"""The installed spaCy pipeline for English, if there is one, and the statements that its parses show.

spaCy is imported only when a sentence has to be parsed. Only packages that are registered as spaCy models are
considered, and of these only pipelines whose own description says that they are for English. In a dependency
parse, subject, verb and object may be far from each other. The tables of words, the doubts and the checks of
the ends are those of the patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engine.knowledge.dreaming.relations.phrases import Phrase
from engine.knowledge.dreaming.relations.relation_words import (
    ROLES,
    VERBS,
    WORDS,
    Role,
    Statement,
    Verb,
    singular,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from engine.knowledge.dreaming.relations.clause import Clause


import importlib.util
import json
import os
from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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


_BY_LEMMA: Final[dict[str, list[Verb]]] = {}
for _verb in VERBS:
    _BY_LEMMA.setdefault(_verb.lemma, []).append(_verb)

_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass"})
_DOUBTED: Final = WORDS["doubted"]
_NAMED: Final = frozenset({"compound", "nmod", "nummod", "amod", "flat"})
_WITHDRAWN: Final = WORDS["parsed_withdrawn"]
_PEOPLE: Final = frozenset({"PERSON"})
_NO_PEOPLE: Final = frozenset(
    {"ORG", "GPE", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "LANGUAGE", "NORP"}
)

End = Phrase | str


class ParseReader:
    """The statements of one parsed sentence."""

    def __init__(self, reading: Clause, doc: Doc) -> None:
        self._reading = reading
        self._phrases = reading.phrases
        self._doc = doc
        sentence = reading.phrases.sentence
        self._index = {offset - sentence.start: at for at, offset in enumerate(sentence.offsets) if at}

    def statements(self) -> Iterator[Statement]:
        """Yield the statements of the sentence."""
        for token in self._doc:
            if token.lemma_ in _BY_LEMMA and token.pos_ in ("VERB", "ADJ", "AUX") and self._is_stated(token):
                for verb in _BY_LEMMA[token.lemma_]:
                    yield from self._of_verb(token, verb)
            noun = singular(token.lower_)
            if noun in ROLES and token.pos_ in ("NOUN", "PROPN"):
                for role in ROLES[noun]:
                    yield from self._of_role(token, role)

    # -- doubts -------------------------------------------------------------------------------------------

    def _is_stated(self, verb: Token) -> bool:
        """Return True if nothing in the parse denies, doubts or only wishes what a verb says."""
        token = verb
        while True:
            for child in token.children:
                if child.dep_ == "neg" or (child.dep_ == "aux" and child.tag_ in ("MD", "TO")):
                    return False
                if child.dep_ == "mark" and child.lower_ in ("if", "whether", "unless", "though"):
                    return False
            if token.head == token:
                break
            if token.dep_ in ("ccomp", "xcomp", "advcl", "acl") and token.head.lemma_ in _DOUBTED:
                return False
            token = token.head
        at = self._at(verb)
        return at is not None and not self._reading.is_doubted(at)

    def _fits_tense(self, token: Token, verb: Verb) -> bool:
        auxiliaries = {child.lemma_ for child in token.children if child.dep_ in ("aux", "auxpass")}
        passive = any(child.dep_ == "auxpass" for child in token.children)
        if verb.passive:
            return token.tag_ == "VBN" and (passive or token.dep_ in ("acl", "acomp") or "be" in auxiliaries)
        if passive or (token.tag_ == "VBN" and "have" not in auxiliaries):
            return False
        if token.tag_ == "VBD":
            return not verb.lasts or not self._reading.has_ended
        if token.tag_ == "VBG":
            return "be" in auxiliaries
        return True

    # -- verbs --------------------------------------------------------------------------------------------

    def _of_verb(self, token: Token, verb: Verb) -> Iterator[Statement]:
        if not self._fits_tense(token, verb):
            return
        objects = self._objects(token, verb)
        if not objects:
            return
        for subject in self._subjects(token):
            for one in objects:
                if self._fits(subject, verb.subject, is_subject=True) and self._fits(one, verb.object):
                    yield self._statement(subject, verb.predicate, one, flipped=verb.flipped)

    def _objects(self, token: Token, verb: Verb) -> list[Token]:
        if not verb.after:
            direct = [child for child in token.children if child.dep_ == "dobj"]
            return self._joined(direct)
        objects = []
        for word in verb.after:
            parts = word.split("_")
            for child in token.children:
                if len(parts) == 2 and child.lower_ == parts[0]:
                    objects += self._below(child, parts[1]) + self._below(token, parts[1])
                elif len(parts) == 1 and child.lower_ == parts[0] and child.dep_ in ("prep", "agent"):
                    objects += [one for one in child.children if one.dep_ == "pobj"]
                elif verb.skips and child.dep_ == "dobj":
                    objects += self._below(child, word)
        return self._joined(objects)

    def _below(self, token: Token, preposition: str) -> list[Token]:
        return [
            one
            for child in token.children
            if child.lower_ == preposition
            for one in child.children
            if one.dep_ == "pobj"
        ]

    def _joined(self, tokens: list[Token]) -> list[Token]:
        objects = []
        for token in tokens:
            conjuncts = [token, *token.conjuncts]
            if any(child.lower_ == "or" for one in conjuncts for child in one.children if child.dep_ == "cc"):
                continue
            objects += conjuncts
        return objects

    def _subjects(self, token: Token) -> list[Token]:
        """Return the subjects of a verb; a verb after `and` can share the subject of the first verb."""
        subjects = [child for child in token.children if child.dep_ in _SUBJECTS]
        if subjects:
            subject = subjects[0]
            if subject.tag_ in ("WDT", "WP"):
                return [token.head] if token.dep_ == "relcl" else []
            return self._joined([subject])
        if token.dep_ == "acl" and token.tag_ == "VBN":
            return [token.head]
        if token.dep_ == "acomp":
            return self._subjects(token.head)
        if token.dep_ == "conj" and token.head.pos_ in ("VERB", "AUX"):
            return self._subjects(token.head)
        return []

    # -- roles --------------------------------------------------------------------------------------------

    def _of_role(self, noun: Token, role: Role) -> Iterator[Statement]:
        if not self._is_stated(noun) or any(
            child.lower_ in ("ex", "former", "late", "no") for child in noun.children
        ):
            return
        owners = self._joined([one for word in role.after for one in self._below(noun, word)])
        if role.person and not owners:
            owners = [child for child in noun.children if child.dep_ == "poss"]
        for bearer in self._bearers(noun):
            for owner in owners:
                if self._fits(bearer, role.subject, is_subject=True) and self._fits(owner, role.object):
                    yield self._statement(bearer, role.predicate, owner, flipped=role.flipped)

    def _bearers(self, noun: Token) -> list[Token]:
        """Return the people to whom the sentence applies the noun."""
        head = noun.head
        if noun.dep_ == "attr" and head.lemma_ == "be":
            return self._subjects(head)
        if noun.dep_ == "appos":
            return [head] if head.pos_ == "PROPN" else []
        return [child for child in noun.children if child.dep_ == "appos" and child.pos_ == "PROPN"]

    # -- ends ---------------------------------------------------------------------------------------------

    def _at(self, token: Token) -> int | None:
        return self._index.get(token.idx)

    def _end(self, token: Token) -> End | None:
        """Return the phrase whose head is a token, or the person that a pronoun means."""
        at = self._at(token)
        if at is None:
            return None
        if token.pos_ == "PRON" or token.tag_ == "PRP$":
            return self._reading.meant(at)
        entity = next((one for one in self._doc.ents if one.start <= token.i < one.end), None)
        first, last = token, token
        for child in token.lefts:
            if child.dep_ in _NAMED:
                first = min(first, *child.subtree, key=lambda one: one.i)
        if entity is not None and entity.label_ not in ("DATE", "TIME", "CARDINAL", "QUANTITY"):
            first = min(first, entity[0], key=lambda one: one.i)
            last = max(last, entity[-1], key=lambda one: one.i)
        start, end = self._at(first), self._at(last)
        if start is None or end is None:
            return None
        article = next((child.lower_ for child in token.children if child.dep_ in ("det", "poss")), "")
        if article and self._phrases.words[start] == article:
            start += 1
        return self._phrases.made(start, end + 1, article)

    def _fits(self, token: Token, kind: str, *, is_subject: bool = False) -> bool:
        end = self._end(token)
        if end is None:
            return False
        if isinstance(end, Phrase):
            label = token.ent_type_
            if kind == "person" and label in _NO_PEOPLE:
                return False
            if kind in ("place", "group", "thing", "exact", "work") and label in _PEOPLE:
                return False
        return self._reading.fits(end, kind, is_subject=is_subject)

    def _statement(self, subject: Token, predicate: str, object_: Token, *, flipped: bool) -> Statement:
        one, other = self._end(subject) or "", self._end(object_) or ""
        return self._reading.statement(one, predicate, other, flipped=flipped)
