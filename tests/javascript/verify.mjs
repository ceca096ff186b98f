// node verify.mjs FILE [--root HEX --store-id ID [--size N] | --checkpoint NOTE] [CLAIM ...]
//
// Verifies a proof and prints one JSON object. A proof without an envelope needs a root or checkpoint and a claim. Exit code 0: it shows the claim; 4: it does not; 2: wrong usage; 3: a
// file cannot be read. Signatures of a checkpoint are not looked at.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { equal } from "../../engine/window/verifier/bytes.mjs";
import { readEnvelope, startsEnvelope } from "../../engine/window/verifier/envelope.mjs";
import { toJson } from "../../engine/window/verifier/json.mjs";
import { noteBasis } from "../../engine/window/verifier/notes.mjs";
import { Refused, check } from "../../engine/window/verifier/refusal.mjs";
import { verify } from "../../engine/window/verifier/verifier.mjs";
import { parseClaim, parseId, parseNumber, parseRoot } from "../../engine/window/verifier/words.mjs";

const USAGE = 2;
const UNREADABLE = 3;
const REFUSED = 4;
const string = { type: "string" };
const OPTIONS = { root: string, "store-id": string, size: string, checkpoint: string };

function basisOf({ root, "store-id": storeId, size, checkpoint }) {
  const byRoot = root !== undefined && storeId !== undefined && checkpoint === undefined;
  const byNote = root === undefined && storeId === undefined && size === undefined && checkpoint !== undefined;
  check(byRoot || byNote, "input", "either --root and --store-id are needed, or --checkpoint");
  if (byNote) return noteBasis(new Uint8Array(readFileSync(checkpoint)));
  const known = size === undefined ? null : parseNumber(size);
  return { kind: "root", store: parseId(storeId), size: known, root: parseRoot(root) };
}

function main(args) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [file, ...words] = positionals;
  check(file !== undefined, "input", "a file is needed");
  const isPinned = Object.keys(values).length > 0;
  const pinned = isPinned ? basisOf(values) : null;
  const data = new Uint8Array(readFileSync(file));
  if (!startsEnvelope(data)) {
    check(isPinned && words.length > 0, "input", "a proof without an envelope needs a basis and a claim");
    return verify(data, pinned, [parseClaim(words)]);
  }
  const envelope = readEnvelope(data);
  const isSame = !isPinned || (pinned.kind === envelope.basis.kind && equal(pinned.root, envelope.basis.root));
  check(isSame, "root", "the file is about a different root");
  const claims = words.length > 0 ? [words] : envelope.claims.map((claim) => claim.split(" "));
  return verify(envelope.proof, pinned ?? envelope.basis, claims.map(parseClaim));
}

function exitCode(error) {
  if (error instanceof Refused) return error.reason === "input" ? USAGE : REFUSED;
  if (error.code?.startsWith("ERR_PARSE_ARGS")) return USAGE;
  return error.syscall === undefined ? null : UNREADABLE;
}

try {
  console.log(toJson({ verified: true, ...main(process.argv.slice(2)) }));
} catch (error) {
  const code = exitCode(error);
  if (code === null) throw error;
  console.log(toJson({ verified: false, reason: error.reason ?? error.code, message: error.message }));
  process.exitCode = code;
}
