// The one error of this verifier. Every other error is a fault in it.

/** A proof or note is refused; `reason` is a word of the table of reasons in SPEC.md, section 20. */
export class Refused extends Error {
  constructor(reason, detail) {
    super(`${reason}: ${detail}`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** Refuse with `reason` unless `condition` is true. */
export function check(condition, reason, detail) {
  if (!condition) throw new Refused(reason, detail);
}

/** Refuse a part of a proof that is there but not wanted, or wanted but not there; null is a part that is not there. */
export function checkPresence(item, wanted, what) {
  check(item !== null || !wanted, "missing", `${what} is not there`);
  check(item === null || wanted, "unneeded", `${what} is there without need`);
}
