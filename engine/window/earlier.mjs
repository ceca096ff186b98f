// What is verified of an earlier moment: proofs lead to the root of that moment, whose log must be the beginning of the
// log that was seen last.

import { CallFailed } from "./client.mjs";
import { uuid } from "./facts.mjs";
import { unproved } from "./trust.mjs";
import { fromBase64, toHex } from "./verifier/bytes.mjs";
import { Refused, consistencyClaim, trustRoot, verify } from "./verifier/index.mjs";

/** The trust in one memory as it was after the event `moment`; `head` is the root of that moment. */
export class EarlierTrust {
  constructor(trust, moment) {
    Object.assign(this, { trust, moment, memory: trust.memory.asOf(moment), head: null });
  }

  get refused() {
    return this.trust.refused;
  }

  /** Verify claims, each in words, about that moment; return their facts. Throws Refused otherwise. */
  async check(claims) {
    await this.trust.turn;
    if (this.refused !== null) throw this.refused;
    const sent = await this.prove(claims.map((claim) => claim.split(" ")));
    const isProof = typeof sent?.data === "string" && typeof sent.root === "string";
    if (!isProof) throw new Refused("form", "the service answers in another form");
    if (sent.size !== this.moment + 1) throw new Refused("log-size", "the proof is about another moment");
    const then = trustRoot({ root: sent.root, store: uuid(this.trust.older.store), size: sent.size });
    if (this.head !== null && toHex(then.root) !== toHex(this.head.root)) {
      throw new Refused("fork", `the log of ${sent.size} events has two roots`);
    }
    const { facts, log } = verify(fromBase64(sent.data), then, claims);
    if (this.head === null) await this.trust.check([consistencyClaim(log)]);
    this.head = then;
    return facts;
  }

  async prove(claims) {
    const given = { as_of: this.moment };
    try {
      return await this.trust.memory.call("prove", { claims, ...given });
    } catch (error) {
      if (!(error instanceof CallFailed) || error.status === 0 || error.status === 401) throw error;
      // No proof of a moment can be made after something in it was erased: then there is no root of it either.
      await this.trust.memory.call("root", given);
      throw unproved(error);
    }
  }
}
