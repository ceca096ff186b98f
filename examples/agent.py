"""An agent that explores a memory step by step, instead of receiving ten whole texts in its prompt.

The program explores one question twice, without a language model. In the first exploration, the built-in
policy chooses each step. In the second, the function `ask` answers the decision prompt; replace this function
with a call of your model. The memory is built from the pages of this project. The program prints each step,
the text found and the tokens spent.

    python examples/agent.py [QUESTION]
"""

import re
import sys
from pathlib import Path

from engine import Engine, Exploration, LanguagePolicy

PROJECT = Path(__file__).resolve().parent.parent
QUESTION = "Which process may open a LevelDB store?"
RELATIONS = [("memroot", "keeps events in", "journal"), ("index", "is rebuilt from", "journal")]


def ask(prompt: str) -> str:
    """Answer a decision prompt with one action. In your program, call a model here and return the reply.

    This example parses the prompt instead. In each of the first two decisions, the example expands the best
    remaining hint. Then it answers.
    """
    context = int(re.search(r"^Context, (\d+)", prompt, re.MULTILINE)[1])  # type: ignore[index]  # always matches
    hints = re.findall(r"^\[\d+% ~\d+\] ([0-9a-f]+) ", prompt, re.MULTILINE)
    return f"EXPAND({hints[0]})" if hints and context < 2 else "ANSWER"


def show(title: str, found: Exploration) -> None:
    """Print an exploration: its steps, the text gathered and the tokens spent."""
    print(f"== {title} ==")
    for line in found.trace():
        print(line)
    print(found.text, end="")
    full = f"{found.full_tokens} tokens for 10 full atoms"
    print(f"{found.tokens} tokens in all, against {full} ({found.saving}% saved); stopped: {found.stopped}")
    if found.prompt_tokens:
        print(f"{found.prompt_tokens} tokens of prompts went to the model")
    print()


def main(question: str = QUESTION) -> None:
    """Explore the question with two policies, and then call the four operations directly."""
    with Engine.open("memory:", actor="agent") as memory:
        memory.ingest([PROJECT / "README.md", PROJECT / "docs"], root=PROJECT, name="memroot")
        for subject, predicate, target in RELATIONS:
            memory.relate(subject, predicate, target)

        print(f"? {question}\n")
        show("without a model", memory.explore(question, budget=1000))
        show("a model decides", memory.explore(question, budget=1000, policy=LanguagePolicy(ask)))

        # The four operations called directly, for an agent with its own loop.
        explorer = memory.explorer()
        hints = explorer.explore_recall(question, limit=3)
        peek = explorer.explore_peek(hints.hints[0].id)
        triples = explorer.explore_neighbors("journal").triples
        print(f"peek: {peek.text}")
        for triple in triples:
            print(f"{triple.subject} → {triple.predicate} → {triple.object}")
        print(f"{explorer.total} tokens in total, read at event {peek.seq} under root {peek.root[:16]}…")


if __name__ == "__main__":
    main(*sys.argv[1:2])
