"""The tool `status`: the memory's statistics, its root, and proofs of claims about its content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.base.errors import RefusedError
from engine.base.json_text import dumped
from engine.mcp.definition import Arguments, Fields, Tool, members, text, texts
from engine.mcp.exploring import asked, budget, only_as_of

if TYPE_CHECKING:
    from engine.engine import Engine

PROOF_BYTES_MAX: Final = 16 << 10
"""The maximum size of a proof in an answer, in bytes.

The text of a larger proof would cost tens of thousands of tokens.
"""


def _status(engine: Engine, arguments: Arguments) -> str:
    with asked(engine, arguments) as (memory, wanted):
        only_as_of(wanted, "status")
        if "claims" in arguments:
            return _prove(memory, arguments)
        return dumped(_counts(memory))


def _counts(memory: Engine) -> Fields:
    from engine.base.times import shown_time

    root, found = memory.root(), memory.status()
    return {
        "version": found.version,
        "store": found.store_id,
        "backend": found.backend,
        "events": found.events,
        "live_atoms": found.live_atoms,
        "contents": found.contents,
        "last_event": shown_time(found.last_event),
        "seq": root.size - 1,
        "root": root.root,
    }


def _prove(memory: Engine, arguments: Arguments) -> str:
    from base64 import b64encode

    from engine.query.prompt_text import tokens_of
    from proofs.verified import to_plain
    from proofs.verify_arguments import describe_basis

    proof = memory.prove([claim.split() for claim in arguments["claims"]])
    fields: Fields = {
        "shown": [to_plain(one) for one in proof.shown],
        "basis": describe_basis(proof.basis, proof.size),
        "bytes": len(proof.data),
        "proof": None,
    }
    most = arguments["budget"]
    if len(proof.data) <= PROOF_BYTES_MAX:
        whole = dumped({**fields, "proof": b64encode(proof.data).decode()})
        if tokens_of(whole) <= most:
            return whole
    answer = dumped(fields)
    if tokens_of(answer) > most:
        raise RefusedError(
            f"the answer costs {tokens_of(answer)} tokens, more than the budget of {most}",
            hint="give fewer claims (`sealed` omits an atom's content) or a larger budget",
        )
    return answer


STATUS: Final = Tool(
    "status",
    "Counts, root. With `claims`, a proof for someone without this memory (base64; null if too large).",
    members(
        {
            "claims": texts(
                "`atom ID`, `no-term WORD`, `term WORD`, `tag ID TAG`, `none-tagged TAG`, `edge ID TYPE ID`; "
                "`sealed` after an id omits the content.",
                each=1000,
                most=16,
            ),
            "filter": text("`as_of:17` or `as_of:TIME`.", most=1000),
            "budget": budget(6000),
        }
    ),
    None,
    _status,
)
