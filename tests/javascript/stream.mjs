// Answers questions for the tests: one JSON object on each line of stdin, one answer on each line of stdout.
//
// A question names its kind in `ask`. Byte strings are in hex, sizes are decimal strings. An answer is what the
// function below returns, {"reason": …} of a refusal, or {"fault": …} of any other error, which is a fault here.

import { createInterface } from "node:readline";

import { bigEndian, fromHex } from "./verifier/bytes.mjs";
import { keyDigest, valueDigest } from "./verifier/hashes.mjs";
import { readHeader, readPayload } from "./verifier/events.mjs";
import { toJson } from "./verifier/json.mjs";
import { checkConsistency, checkInclusion, logLeaf, logRoot } from "./verifier/log.mjs";
import { readNote } from "./verifier/notes.mjs";
import { Refused } from "./verifier/refusal.mjs";
import { checkSignatures } from "./verifier/signatures.mjs";
import { treeRoot } from "./verifier/trees.mjs";
import { verify } from "./verifier/verifier.mjs";
import { parseClaim } from "./verifier/words.mjs";

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

const QUESTIONS = {
  proof: ({ proof, basis, claims }) => verify(fromHex(proof), readBasis(basis), claims.map(readClaim)),
  words: ({ words }) => parseClaim(words),
  event: ({ header, payload }) => {
    const read = readHeader(fromHex(header));
    return { header: read, body: payload && readPayload(fromHex(payload), read.commitment, read.kind) };
  },
  note: ({ note, known }) => {
    const read = readNote(fromHex(note));
    return { ...read, signatures: checkSignatures(read, known) };
  },
  keys: ({ namespace, leaves: pairs }) => {
    const digests = pairs.map(([key, value]) => [
      keyDigest(namespace, fromHex(key)),
      valueDigest(namespace, fromHex(value)),
    ]);
    return { digests: digests.map(([key]) => key), root: treeRoot(digests) };
  },
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

function answer(line) {
  try {
    const question = JSON.parse(line);
    return QUESTIONS[question.ask](question);
  } catch (error) {
    return error instanceof Refused ? { reason: error.reason, detail: error.message } : { fault: error.stack };
  }
}

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${toJson(answer(line))}\n`);
