"""A program with an embedded memory.

The program adds, links and recalls texts, then reads a past state and verifies the store. The program needs
only the package memroot. Run `python examples/embed.py [STORE]`; without STORE, the store is in memory.
"""

import sys

from engine import Add, Direction, EdgeType, Engine, Follow


def main(url: str = "memory:") -> None:
    """Run the example on the store at `url`."""
    with Engine.open(url, actor="example") as memory:
        daemon = memory.add(
            "The daemon listens on a Unix socket; file permissions are its only authentication.",
            title="Daemon",
            tags=["architecture", "security"],
            source="design-notes",
        ).id
        protocol = memory.add(
            "Requests over the socket are JSON-RPC 2.0, one object on a line.",
            title="Protocol",
            tags=["architecture"],
            source="design-notes",
        ).id
        memory.link(daemon, EdgeType.RELATED_TO, protocol)
        memory.register_type("speaks")
        memory.link(daemon, "speaks", protocol, weight=0.9)

        # Repeating a command appends no event, because commands state the desired result.
        print("linked again:", memory.link(daemon, "speaks", protocol).changed)

        answer = memory.recall("How does the daemon authenticate?", tags=["security"])
        for hit in answer.hits:
            print(f"{hit.score:.3f} {hit.title}: {hit.snippet}")

        for found in memory.find(from_=daemon, follow=Follow(direction=Direction.BOTH), limit=5):
            print(f"{found.hops} hop from the daemon: {found.title}")

        before = memory.root().size - 1
        memory.revise(protocol, content="Requests over the socket are CBOR now.")
        print("then:", memory.get(protocol, as_of=before).content)
        print("now: ", memory.get(protocol).content)

        # One durable batch: either all commands take effect or none.
        memory.apply([Add("First of two."), Add("Second of two.")])

        memory.checkpoint()
        root = memory.root().root
        print("root:", root)
        print("verified:", memory.verify(expect=root).ok)


if __name__ == "__main__":
    main(*sys.argv[1:2])
