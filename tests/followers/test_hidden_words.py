"""The keys of the rows give no word away."""

from __future__ import annotations

from blake3 import blake3

from engine import Add
from tests.support.engines import backend_of, engine_on

CONTENT, TITLE, TAG, BUCKET, PAGE, ALIAS = "quokka", "Title9", "tag9", "bucket9", "page9", "alias9"
META, ACTOR, REQUEST, PREDICATE = {"key9": "value9"}, "actor9", "request9", "predicate9"
WORDS = (CONTENT, TITLE, TAG, BUCKET, PAGE, f"notes/{PAGE}.md", ALIAS, *META, *META.values())


def test_no_key_contains_a_word_or_an_unkeyed_hash_of_one() -> None:
    """No key of a row contains a word that somebody wrote, or the beginning of its hash."""
    engine = engine_on()
    added = Add(
        CONTENT,
        title=TITLE,
        tags=[TAG],
        buckets=[BUCKET],
        source=f"notes/{PAGE}.md",
        meta=META,
        aliases=[ALIAS],
    )
    engine.apply([added], actor=ACTOR, request=REQUEST)
    engine.relate(CONTENT, PREDICATE, "kettle")
    engine.apply([Add(f"{number} {CONTENT}") for number in range(300)])
    engine.catch_up()
    words = [form.encode() for word in (*WORDS, ACTOR, REQUEST, PREDICATE) for form in {word, word.lower()}]
    hidden = [*words, *(blake3(word).digest()[:6] for word in words)]
    keys = [key for key, _ in backend_of(engine).scan()]
    assert {key[:2] for key in keys} >= {b"g/", b"i/", b"m/", b"n/", b"q/", b"y/"}
    assert [(key, one) for key in keys for one in hidden if one in key] == []
