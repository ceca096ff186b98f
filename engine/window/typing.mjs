// A question while it is typed: each key asks, but only one request is under way; the rest waits until typing has ended.

/** How long after the last key, in ms, typing has ended. */
const REST = 250;

/**
 * The keys in a field. `ask` asks the service for what stands in the field, and returns when that is answered; `end` is
 * called when typing has ended.
 */
export class Typing {
  constructor(ask, end) {
    Object.assign(this, { ask, end, isAsking: false, resolve: () => null, timer: null });
    /** Whether something was typed that nobody was asked about yet. */
    this.waits = false;
    /** Resolves to whether the newest key was the last one. */
    this.ended = Promise.resolve(true);
  }

  /** A key was pressed. Unless `asks`, nothing is asked before typing has ended. */
  key(asks) {
    this.forget(false);
    this.ended = new Promise((resolve) => Object.assign(this, { resolve }));
    this.timer = setTimeout(() => {
      this.end();
      this.resolve(true);
    }, REST);
    this.waits = asks;
    if (!this.isAsking) this.askNewest();
  }

  /** The person went elsewhere: what was typed and not asked yet is not asked. */
  stop() {
    this.waits = false;
    this.forget(true);
  }

  forget(isLast) {
    clearTimeout(this.timer);
    this.resolve(isLast);
  }

  async askNewest() {
    this.isAsking = true;
    while (this.waits) {
      this.waits = false;
      await this.ask();
    }
    this.isAsking = false;
  }
}
