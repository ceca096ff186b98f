// What this browser keeps for this address. Where it keeps nothing, because its storage is blocked or full, the page
// itself keeps the texts until it is closed or loaded again.

export class BrowserStorage {
  /** `name` is that of a storage of the browser: "localStorage" or "sessionStorage". */
  constructor(name) {
    this.name = name;
    /** The texts that the browser does not keep, by key. They are newer than what it may still have. */
    this.unkept = new Map();
  }

  /** Return the text of a key, or null. */
  read(key) {
    if (this.unkept.has(key)) return this.unkept.get(key);
    try {
      return window[this.name].getItem(key);
    } catch {
      // Reading the property itself is an error in a browser that blocks storage.
      return null;
    }
  }

  write(key, text) {
    try {
      window[this.name].setItem(key, text);
      this.unkept.delete(key);
    } catch {
      this.unkept.set(key, text);
    }
  }

  /** Return whether what was last written for a key is kept when the page is closed. */
  keeps(key) {
    return !this.unkept.has(key);
  }
}
