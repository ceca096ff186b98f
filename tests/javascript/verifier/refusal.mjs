// The one error of this verifier. Every other error is a fault in it.

/** A proof or note is refused; `reason` is a word of the table of reasons in SPEC.md, section 20. */
export class Refused extends Error {
  constructor(reason, detail) {
    super(`${reason}: ${detail}`);
    this.reason = reason;
  }
}

/** Refuse with `reason` unless `condition` is true. */
export function check(condition, reason, detail) {
  if (!condition) throw new Refused(reason, detail);
}
