"""A program that keeps a memory of its own: add, link, ask, look back, verify.

Prints what it does; needs nothing but the package. `python examples/embed.py [STORE]`, in memory by default.
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

        # The same again is no event: commands say what is wanted, not what is to be done.
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

        # All of these or none of them, in one durable batch.
        memory.apply([Add("First of two."), Add("Second of two.")])

        memory.checkpoint()
        root = memory.root().root
        print("root:", root)
        print("verified:", memory.verify(expect=root).ok)


if __name__ == "__main__":
    main(*sys.argv[1:2])
