"""The policy without a model: reads the best hints, and stops where the next one is worth too little."""

from __future__ import annotations

from dataclasses import dataclass

from engine.exploration.actions import Action, Verb
from engine.exploration.answers import Expanded, Hint, Hints, Peek
from engine.exploration.state import State
from engine.text.words import STOP_WORDS


@dataclass(frozen=True, slots=True)
class WalkerConfig:
    worth: float = 0.5
    price: float = 0.5
    peek: int = 55
    more: float = 9
    again: str = ""


class Walker:
    """Decides by scores and costs alone."""

    def __init__(self, config=None):
        self.config = config or WalkerConfig()

    def decide(self, state: State) -> Action:
        """The next step."""
        c = self.config
        first = state.trace[0].answer.hints
        if not first:
            return Action(Verb.ANSWER)
        best = odds(first[0])
        typical = sum(h.tokens + 20 for h in first) / len(first)
        def worth(h):
            return odds(h) / best / ((h.tokens + 20) / typical) ** c.price
        recalls = [s for s in state.trace if isinstance(s.answer, Hints)]
        for f in state.context:
            if f.verb is Verb.PEEK and not f.whole:
                h = next(h for h in state.hints if state.finding(h.id) is f)
                if worth(h) >= c.worth:
                    return Action(Verb.EXPAND, h.id)
        if len(recalls) == 1 and odds(first[-1]) / best >= c.more and len(first) >= 5 and len(state.context)>0:
            return self.recall(state)
        good = [h for h in state.unread if worth(h) >= c.worth]
        if not good:
            return Action(Verb.ANSWER)
        h = max(good, key=worth)
        return Action(Verb.PEEK if h.tokens <= c.peek else Verb.EXPAND, h.id)

    def recall(self, state):
        words = [w.strip(".,?!;:'\"()") for w in state.query.split()]
        words = [w for w in words if w and w.lower() not in STOP_WORDS]
        seen = {w.lower() for w in words}
        extra = []
        if self.config.again != "core":
            for f in state.context:
                text = (f.title or "") if self.config.again == "title" else (f.title or "") + " " + f.text
                for w in text.split():
                    w = w.strip(".,?!;:'\"()[]*#")
                    if w[:1].isupper() and w.lower() not in seen and w.lower() not in STOP_WORDS:
                        seen.add(w.lower()); extra.append(w)
            extra = extra[:6]
        q = " ".join(words + extra)
        if q == state.query: q = " ".join(words[::-1])
        return Action(Verb.RECALL, q)


def odds(h: Hint) -> float:
    return h.score / (100 - h.score) if h.score < 100 else 1000.
