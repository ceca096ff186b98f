"""The English stop words that a query omits, and the endings that are removed after an apostrophe.

A stop word is indexed like any other word, so that its absence from a text can also be proved. Scores and
document lengths do not count stop words. Stop words are never stemmed. The stop words and the endings are
part of the analyzer: a change of either changes the analyzer's fingerprint.
"""

from __future__ import annotations

from typing import Final

_STOP_WORDS: Final = (
    # articles, demonstratives, quantifiers
    "a an the this that these those some any each every either neither both all few more most other another "
    "such own same "
    # pronouns
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves one "
    "who whom whose which what "
    # forms of be, have, do; modals
    "be am is are was were been being have has had having do does did doing done "
    "can could may might must shall should will would cannot "
    # prepositions
    "of in on at by for with from to into onto upon about against between among through during before after "
    "above below under over up down out off within without toward towards per via "
    # conjunctions
    "and or but nor if then else than because as until while although though since unless whether so "
    # adverbs without content
    "not no yes only very too also just even still yet again further once here there when where why how "
    "now ever quite rather "
    # contractions, with and without the apostrophe
    "isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't couldn't mayn't mightn't "
    "mustn't shan't shouldn't won't wouldn't needn't ain't "
    "isnt arent wasnt werent havent hasnt hadnt dont doesnt didnt cant couldnt mustnt shouldnt wont wouldnt "
    "aint im ive youre youve theyre theyve thats whats"
)

STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""The stop words, casefolded and in ASCII."""

CLIPPED_ENDINGS: Final = frozenset({"s", "d", "m", "ll", "re", "ve"})
"""Endings that are removed after an apostrophe at the end of a word: `Anna's` becomes `anna`."""
