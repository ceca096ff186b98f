// Verifier keys, and the signatures of notes by known keys (SPEC.md, section 21).

import { createPublicKey, verify } from "node:crypto";

import { equal, fromBigEndian, fromHex, join, toHex, utf8 } from "./bytes.mjs";
import { sha256 } from "./hashes.mjs";
import { fromBase64, isKeyName } from "./notes.mjs";
import { check } from "./refusal.mjs";

const LOG = 1;
const WITNESS = 4;
const KEY_BYTES = 33;
const SIGNATURE_BYTES = 64;
const TIME_BYTES = 8;
const NEWLINE = Uint8Array.of(10);
/** What stands before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const DER_PREFIX = fromHex("302a300506032b6570032100");

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

function isSigned(message, signature, publicKey) {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const key = createPublicKey({ key: Buffer.from(join(DER_PREFIX, publicKey)), format: "der", type: "spki" });
  return verify(null, utf8(message), key, signature);
}

/** Return the time that a line of a known key says, null for a log's key; refuse it if it does not verify. */
function timeOf({ name, signature }, key, text) {
  if (key.type === LOG) {
    check(isSigned(text, signature, key.publicKey), "signature", `the signature of ${name} does not verify`);
    return null;
  }
  const time = fromBigEndian(signature.subarray(0, TIME_BYTES));
  const message = `cosignature/v1\ntime ${time}\n${text}`;
  const signed = isSigned(message, signature.subarray(TIME_BYTES), key.publicKey);
  check(signed, "signature", `the cosignature of ${name} does not verify`);
  return time;
}

/** Return of each signature line of a note its name, key id, whether its key is among `vkeys`, and the time it says. */
export function checkSignatures({ text, signatures }, vkeys) {
  const known = vkeys.map(parseVkey);
  return signatures.map((line) => {
    const key = known.find(({ name, keyId }) => name === line.name && equal(keyId, line.keyId));
    const time = key === undefined ? null : timeOf(line, key, text);
    return { name: line.name, key_id: line.keyId, known: key !== undefined, time };
  });
}
