// The questions that the tests put to the verifier, in Node and in a browser.
//
// A question names its kind in `ask`. Byte strings are in hex, sizes are decimal strings. An answer is what the
// function below returns, {"reason": …} of a refusal, or {"fault": …} of any other error, which is a fault here.

import { tagIdentity, withIdentity } from "../../engine/window/tags.mjs";
import { contextKey, deriveKey } from "../../engine/window/verifier/blake3.mjs";
import { bigEndian, fromHex, utf8 } from "../../engine/window/verifier/bytes.mjs";
import { keyDigest, valueDigest } from "../../engine/window/verifier/hashes.mjs";
import { readHeader, readPayload } from "../../engine/window/verifier/events.mjs";
import {
  consistency,
  consistencyClaim,
  trustCheckpoint,
  trustRoot,
  verify as verifyWords,
} from "../../engine/window/verifier/index.mjs";
import { toJson } from "../../engine/window/verifier/json.mjs";
import { checkConsistency, checkInclusion, logLeaf, logRoot } from "../../engine/window/verifier/log.mjs";
import { readNote } from "../../engine/window/verifier/notes.mjs";
import { Refused } from "../../engine/window/verifier/refusal.mjs";
import { sha256 } from "../../engine/window/verifier/sha256.mjs";
import { checkSignatures, isSigned } from "../../engine/window/verifier/signatures.mjs";
import { treeRoot } from "../../engine/window/verifier/trees.mjs";
import { verify } from "../../engine/window/verifier/verifier.mjs";
import { parseClaim } from "../../engine/window/verifier/words.mjs";

const readBasis = ({ kind, store, size, root }) => ({
  kind,
  store: fromHex(store),
  size: size === null ? null : BigInt(size),
  root: fromHex(root),
});

const readClaim = ({ number, subject, state, opened }) => ({ number, subject: fromHex(subject), state, opened });

/** The leaves of the log whose entry of each index is that index in 8 bytes. */
const leaves = [];

function numberedLeaves(count) {
  while (leaves.length < count) leaves.push(logLeaf(bigEndian(leaves.length, 8)));
  return leaves;
}

const trustedBy = ({ note, keys, ...root }) => (note === undefined ? trustRoot(root) : trustCheckpoint(note, keys));

const QUESTIONS = {
  proof: ({ proof, basis, claims }) => {
    const { size, shown } = verify(fromHex(proof), readBasis(basis), claims.map(readClaim));
    return { size, shown };
  },
  words: ({ words }) => parseClaim(words),
  event: ({ header, payload }) => {
    const read = readHeader(fromHex(header));
    return { header: read, body: payload && readPayload(fromHex(payload), read.commitment, read.kind) };
  },
  note: async ({ note, known }) => {
    const read = readNote(fromHex(note));
    const lines = await checkSignatures(read, known);
    return { ...read, signatures: lines.map(({ unchecked, ...line }) => line) };
  },
  keys: ({ namespace, leaves: pairs }) => {
    const digests = pairs.map(([key, value]) => [
      keyDigest(namespace, fromHex(key)),
      valueDigest(namespace, fromHex(value)),
    ]);
    return { digests: digests.map(([key]) => key), root: treeRoot(digests) };
  },
  blake3: ({ context, input }) => ({ hash: deriveKey(contextKey(utf8(context)), fromHex(input)) }),
  sha256: ({ input }) => ({ hash: sha256(fromHex(input)) }),
  ed25519: async ({ message, signature, key }) => ({
    signed: await isSigned(fromHex(message), fromHex(signature), fromHex(key)),
  }),
  trust: async ({ by }) => trustedBy(by),
  facts: async ({ proof, by, claims }) => verifyWords(fromHex(proof), await trustedBy(by), claims),
  consistent: async ({ older, newer, proof }) => {
    const both = [await trustedBy(older), await trustedBy(newer)];
    return { claim: consistencyClaim(both[0]), ...consistency(...both, proof && fromHex(proof)) };
  },
  identities: ({ tags }) => ({ identities: tags.map(tagIdentity) }),
  folded: ({ claims }) => ({ claims: claims.map(withIdentity) }),
  digests: ({ leaves: pairs }) => ({ root: treeRoot(pairs.map((pair) => pair.map(fromHex))) }),
  log: ({ size }) => ({ root: logRoot(numberedLeaves(size), 0, size) }),
  inclusion: ({ leaf, index, size, path, root }) => {
    checkInclusion(fromHex(leaf), BigInt(index), BigInt(size), fromHex(path), fromHex(root));
    return {};
  },
  consistency: ({ old, old_root: oldRoot, size, root, path }) => {
    checkConsistency(BigInt(old), fromHex(oldRoot), BigInt(size), fromHex(root), fromHex(path));
    return {};
  },
};

/** Return the answer to a question, a line of JSON, as JSON. */
export async function answer(line) {
  try {
    const question = JSON.parse(line);
    return toJson(await QUESTIONS[question.ask](question));
  } catch (error) {
    if (error instanceof Refused) return toJson({ reason: error.reason, detail: error.message });
    return toJson({ fault: error.stack });
  }
}
