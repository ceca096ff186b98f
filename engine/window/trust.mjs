// What is verified here: from the pinned root to the root of each answer, and the claims about what is shown.

import { CallFailed } from "./client.mjs";
import { uuid } from "./facts.mjs";
import { fromBase64, fromHex, toHex } from "./verifier/bytes.mjs";
import { Refused, consistencyClaim, trustRoot, verify } from "./verifier/index.mjs";

const texts = ({ store, kind, root, size }) => ({
  store: uuid(store),
  kind,
  root: toHex(root),
  size: size === null ? null : String(size),
});

/** Return the trusted object that a pin stands for. */
const trustedOf = ({ store, kind, root, size }) => {
  if (kind === "root") return trustRoot({ store, root, size });
  return Object.freeze({
    kind,
    store: fromHex(store.replaceAll("-", "")),
    root: fromHex(root),
    size: BigInt(size),
    signatures: [],
  });
};

/** Return the refusal of claims of which the service makes no proof; its hint may name claims that hold instead. */
export const unproved = ({ message, hint }) => Object.assign(new Refused("unproved", `the service makes no proof: ${message}`), { hint });

/** The trust in one memory. `head` is the newest root that continues what is pinned; `refused` says why there is none. */
export class Trust {
  constructor(memory, pins) {
    this.memory = memory;
    this.pins = pins;
    this.head = null;
    this.refused = null;
    this.turn = Promise.resolve();
    /** How many events there were when this browser was here last; null on the first visit. */
    this.visited = null;
    /** Called when `head` or `refused` has changed. */
    this.onchange = () => null;
  }

  /** Begin with what is pinned; on the first visit, pin the root that the service shows. Checks wait for it. */
  start() {
    const begun = this.begin();
    this.turn = begun.catch(() => null);
    return begun;
  }

  async begin() {
    if (this.pins.read() === null) await this.pinFirst();
    else this.visited = Number(this.pins.read().seen.size ?? 0) || null;
    const { seen } = this.pins.read();
    this.older = trustedOf(seen);
    this.overall = seen.overall ?? null;
    await this.checkNow([]).catch((error) => {
      if (!(error instanceof Refused)) throw error;
    });
  }

  async pinFirst() {
    const [{ root, log_root: log, size }, { store_id: store }] = await Promise.all([
      this.memory.call("root"),
      this.memory.call("status"),
    ]);
    // What is no root is not pinned.
    for (const one of [root, log]) trustRoot({ root: one, store, size });
    const pin = { store, kind: "root", root, size: String(size), how: "first use" };
    this.pins.pin(pin, { store, kind: "log", root: log, size: String(size), overall: root });
  }

  /** Pin what the person gives, a trusted object. */
  async pin(trusted) {
    this.pins.pin({ ...texts(trusted), how: "given" });
    Object.assign(this, { head: null, refused: null });
    await this.start();
  }

  /**
   * Verify claims, each in words, by a proof that the service makes; return their facts.
   *
   * The same proof shows that the log of the answer continues the one that was seen before. Throws Refused otherwise.
   */
  check(claims) {
    const mine = this.turn.then(() => this.checkNow(claims));
    this.turn = mine.catch(() => null);
    return mine;
  }

  /** Return how many events the memory has, as a proof shows. */
  async size() {
    await this.check([]);
    return Number(this.head.size);
  }

  async checkNow(claims) {
    if (this.refused !== null) throw this.refused;
    if (this.older === undefined) throw new CallFailed({ code: "unreachable", detail: "no root is known" });
    const sent = await this.prove(claims.map((claim) => claim.split(" ")));
    const isProof = typeof sent?.data === "string" && typeof sent.store_id === "string";
    if (!isProof) throw new Refused("form", "the service answers in another form");
    const now = trustRoot({ root: sent.root, store: uuid(this.older.store), size: sent.size });
    this.compare(now, sent.store_id);
    const { facts, log } = verify(fromBase64(sent.data), now, [...claims, consistencyClaim(this.older)]);
    Object.assign(this, { head: now, older: log, overall: toHex(now.root) });
    this.pins.see({ ...texts(log), overall: this.overall });
    this.onchange();
    return facts.slice(0, -1);
  }

  async prove(asked) {
    const continues = this.continues();
    try {
      return await this.memory.call("prove", { claims: [...asked, continues] });
    } catch (error) {
      if (!(error instanceof CallFailed) || error.status === 0 || error.status === 401) throw error;
      // A service whose log does not continue the one that was seen refuses every claim: look whether that is why.
      await (asked.length === 0 ? this.explain() : this.checkNow([]));
      throw unproved(error);
    }
  }

  /** Return the claim that the log continues the one that was seen, with the size that a prover needs. */
  continues() {
    const words = consistencyClaim(this.older).split(" ");
    return this.older.kind === "root" && this.older.size !== null ? [...words, String(this.older.size)] : words;
  }

  /** Refuse the service, which makes no proof that its log continues the one that was seen. */
  async explain() {
    const [{ root, size }, { store_id: store }] = await Promise.all([
      this.memory.call("root"),
      this.memory.call("status"),
    ]);
    this.compare(trustRoot({ root, store: uuid(this.older.store), size }), store);
    this.refuse(new Refused("fork", "the service cannot show that its log continues the one that was seen before"));
  }

  /** Refuse a root that cannot continue what was seen, whatever the proof. */
  compare(now, store) {
    if (String(store).replaceAll("-", "") !== toHex(this.older.store)) {
      this.refuse(new Refused("origin", "the service shows another store than the one that was pinned"));
    }
    const { size } = this.older;
    if (size !== null && now.size < size) {
      this.refuse(new Refused("rollback", `the log has ${now.size} events, but ${size} were seen before`));
    }
    const overall = this.older.kind === "root" ? toHex(this.older.root) : this.overall;
    if (now.size === size && overall !== null && toHex(now.root) !== overall) {
      this.refuse(new Refused("fork", `the log of ${now.size} events has two roots`));
    }
  }

  refuse(error) {
    Object.assign(this, { refused: error, head: null });
    this.onchange();
    throw error;
  }
}
