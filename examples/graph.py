"""Draw who is connected with whom in a chat: `python examples/graph.py docs/graph.svg`.

The chat is `examples/chat.jsonl`. The program takes it in, dreams, and draws the relations between the
entities that the dream found. Positions depend only on the names.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from engine import Engine

CHAT = Path(__file__).resolve().parent / "chat.jsonl"
WIDTH, HEIGHT, RADIUS = 820, 420, 30
STYLE = (
    "svg{background:#fff;font:15px sans-serif}line{stroke:#7a8699;stroke-width:1.5}"
    "circle{fill:#e8f0fe;stroke:#2f5fb3;stroke-width:1.5}text{text-anchor:middle;fill:#1d2733}"
    ".edge{font-size:12px;fill:#2f5fb3;paint-order:stroke;stroke:#fff;stroke-width:5px}"
)


def relations() -> list[tuple[str, str, str]]:
    """Return the relations between entities that a dream finds in the chat: subject, predicate, object."""
    with Engine.open("memory:") as memory:
        memory.ingest([CHAT])
        names = memory.dream().entities
        explorer = memory.explorer()
        triples = [triple for name in names for triple in explorer.explore_neighbors(name).triples]
    return sorted(
        {
            (one.subject, one.predicate, one.object)
            for one in triples
            if {one.subject, one.object} <= set(names)
        }
    )


def draw(edges: list[tuple[str, str, str]]) -> str:
    """Return the graph as an SVG."""
    names = sorted({name for src, _, dst in edges for name in (src, dst)})
    turn = 2 * math.pi / len(names)
    places = {
        name: (WIDTH / 2 + 320 * math.cos(turn * at - 2), HEIGHT / 2 + 160 * math.sin(turn * at - 2))
        for at, name in enumerate(names)
    }
    lines, labels = [], dict[tuple[str, ...], list[str]]()
    for src, predicate, dst in edges:
        labels.setdefault(tuple(sorted((src, dst))), []).append(f"{src} {predicate} {dst}")
    for (one, other), words in labels.items():
        (x, y), (to_x, to_y) = places[one], places[other]
        lines.append(f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}"/>')
        for at, text in enumerate(words):
            middle = f'x="{0.4 * x + 0.6 * to_x:.0f}" y="{0.4 * y + 0.6 * to_y + 15 * at:.0f}"'
            lines.append(f'<text class="edge" {middle}>{escape(text)}</text>')
    for name, (x, y) in places.items():
        lines.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}"/>')
        lines.append(f'<text x="{x:.0f}" y="{y + 5:.0f}">{escape(name)}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
    title = "<title>The people and places of a chat, and the relations that a dream found</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", *lines, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(relations()), encoding="utf-8")
