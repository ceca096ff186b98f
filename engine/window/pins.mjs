// What the person trusts of each memory, kept by this browser between visits.
//
// A pin is {store, kind, root, size, since, how}: the id of the store; "root" or "log"; the root in hex; the number of
// events, or null; the day; "given" or "first use". `seen` is {store, kind, root, size, overall}: the newest log that was
// shown to continue the pin, and the overall root of that size. Before the first check, `seen` is what was pinned.

import { BrowserStorage } from "./storage.mjs";

const PREFIX = "memroot pin ";
/** The one storage of pins, so that a pin that only the page keeps outlasts a look at another memory. */
const STORAGE = new BrowserStorage("localStorage");

/** The pins of one memory at this address. */
export class Pins {
  constructor(memory) {
    this.key = PREFIX + memory;
  }

  /** Whether the browser keeps what is pinned when the page is closed. */
  get last() {
    return STORAGE.keeps(this.key);
  }

  /** Return {pin, seen}, or null if nothing is pinned. */
  read() {
    const text = STORAGE.read(this.key);
    return text === null ? null : JSON.parse(text);
  }

  /** Keep a pin, which replaces the earlier one, and what later logs are compared with. */
  pin(pin, seen = pin) {
    this.write({ pin: { ...pin, since: new Date().toISOString().slice(0, 10) }, seen });
  }

  /** Keep the newest log that continues the pin. */
  see(seen) {
    const kept = this.read();
    if (kept !== null) this.write({ ...kept, seen });
  }

  write(kept) {
    STORAGE.write(this.key, JSON.stringify(kept));
  }
}
