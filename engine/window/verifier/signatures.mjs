// Verifier keys, and the signatures of notes by known keys (SPEC.md, section 21). Ed25519 is WebCrypto's.

import { equal, fromBase64, fromBigEndian, join, toHex, utf8 } from "./bytes.mjs";
import { INTEGER_MAX } from "./fields.mjs";
import { isKeyName } from "./notes.mjs";
import { check } from "./refusal.mjs";
import { sha256 } from "./sha256.mjs";

const LOG = 1;
const WITNESS = 4;
const KEY_BYTES = 33;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
const NEWLINE = Uint8Array.of(10);
const ED25519 = "Ed25519";

export function parseVkey(text) {
  const match = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/u.exec(text);
  check(match !== null && isKeyName(match[1]), "input", "not a verifier key");
  const [, name, keyId, spelled] = match;
  const key = fromBase64(spelled);
  check(key !== null && key.length === KEY_BYTES, "input", "not a key of 33 bytes in base64");
  check(key[0] === LOG || key[0] === WITNESS, "input", "a key of another type");
  const id = sha256(join(utf8(name), NEWLINE, key)).subarray(0, 4);
  check(toHex(id) === keyId, "input", "the key id is not that of the key");
  return { name, keyId: id, type: key[0], publicKey: key.subarray(1) };
}

/** Return why this program cannot verify signatures, or null if it can. */
export async function whyUnchecked() {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) return "the page was not opened over HTTPS, from this machine or from a file";
  try {
    await subtle.importKey("raw", new Uint8Array(32), ED25519, false, ["verify"]);
  } catch {
    return "this browser has no Ed25519";
  }
  return null;
}

/** Tell whether `signature` is that of the bytes of a message by an Ed25519 key. */
export async function isSigned(message, signature, publicKey) {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const { subtle } = globalThis.crypto;
  const key = await subtle.importKey("raw", publicKey, ED25519, false, ["verify"]);
  return subtle.verify(ED25519, key, signature, message);
}

/** Return the time that a line of a known key says, null for a log's key; refuse it if it does not verify. */
async function timeOf({ name, signature }, key, text) {
  if (key.type === LOG) {
    const signed = await isSigned(utf8(text), signature, key.publicKey);
    check(signed, "signature", `the signature of ${name} does not verify`);
    return null;
  }
  const time = fromBigEndian(signature.subarray(0, TIME_BYTES));
  check(time <= INTEGER_MAX, "signature", `the cosignature of ${name} has a time over 2^63 - 1`);
  const message = utf8(`cosignature/v1\ntime ${time}\n${text}`);
  const signed = await isSigned(message, signature.subarray(TIME_BYTES), key.publicKey);
  check(signed, "signature", `the cosignature of ${name} does not verify`);
  return time;
}

/**
 * Verify the signature lines of a note by the keys in `vkeys`.
 *
 * Returns of each line its name, key id, whether its key is known, the time it says, and `unchecked`: why the line was
 * not verified, or null if it was. Throws Refused if a line of a known key does not verify.
 */
export async function checkSignatures({ text, signatures }, vkeys) {
  const known = vkeys.map(parseVkey);
  const witnesses = known.filter(({ type }) => type === WITNESS);
  const isDouble = (a, b) => a.name !== b.name && equal(a.publicKey, b.publicKey);
  check(!witnesses.some((a) => witnesses.some((b) => isDouble(a, b))), "input", "two witnesses have one public key");
  const cannot = known.length > 0 ? await whyUnchecked() : null;
  const lines = [];
  for (const line of signatures) {
    const key = known.find(({ name, keyId }) => name === line.name && equal(keyId, line.keyId));
    const unchecked = key === undefined ? "no key for it is known" : cannot;
    const time = unchecked === null ? await timeOf(line, key, text) : null;
    lines.push({ name: line.name, key_id: line.keyId, known: key !== undefined, time, unchecked });
  }
  return lines;
}
