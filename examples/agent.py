"""An agent that explores a memory instead of having ten texts poured into its prompt.

Runs without a language model, twice: the first time the policy that comes with the package decides, the
second time whatever answers the decision prompt. That is where a model plugs in: `ask`. The memory is made
of this project's own pages. Prints the way it took, what it found and what that cost.

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
    """Answer a decision prompt with one action. Put a call of your model here, and return its reply.

    This stand-in reads the prompt as a model would: it looks at the best hint that is left, twice, and
    then has enough.
    """
    context = int(re.search(r"^Context, (\d+)", prompt, re.MULTILINE)[1])  # type: ignore[index]  # always there
    hints = re.findall(r"^\[\d+% ~\d+\] ([0-9a-f]+) ", prompt, re.MULTILINE)
    return f"EXPAND({hints[0]})" if hints and context < 2 else "ANSWER"


def show(title: str, found: Exploration) -> None:
    """Print an exploration: the way, what was gathered, the price."""
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
    """Explore one question in two ways."""
    with Engine.open("memory:", actor="agent") as memory:
        memory.ingest([PROJECT / "README.md", PROJECT / "docs"], root=PROJECT, name="memroot")
        for subject, predicate, target in RELATIONS:
            memory.relate(subject, predicate, target)

        print(f"? {question}\n")
        show("without a model", memory.explore(question, budget=1000))
        show("a model decides", memory.explore(question, budget=1000, policy=LanguagePolicy(ask)))

        # The four verbs by themselves, for an agent with a loop of its own.
        explorer = memory.explorer()
        hints = explorer.explore_recall(question, limit=3)
        peek = explorer.explore_peek(hints.hints[0].id)
        triples = explorer.explore_neighbors("journal").triples
        print(f"peek: {peek.text}")
        for triple in triples:
            print(f"{triple.subject} → {triple.predicate} → {triple.object}")
        print(f"{explorer.total} tokens, all of it read at event {peek.seq} under root {peek.root[:16]}…")


if __name__ == "__main__":
    main(*sys.argv[1:2])
