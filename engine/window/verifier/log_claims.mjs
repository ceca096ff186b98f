// Claims 11 to 14 and 17: about the log (SPEC.md, section 20).
//
// Each function takes a claim, its witness without the number, the log {size, root} and the store id, and returns what
// is shown.

import { bigEndian, equal, fromBigEndian, join } from "./bytes.mjs";
import { CHECKPOINT, FOREIGN_HEAD, readHeader, readPayload } from "./events.mjs";
import { anyBytes, optionalBytes } from "./fields.mjs";
import { checkConsistency, checkInclusion, logLeaf } from "./log.mjs";
import { check, checkPresence } from "./refusal.mjs";
import { overallRoot, readOpening } from "./roots.mjs";

const SIZE_BYTES = 8;

function event({ subject, opened }, [rawHeader, rawPayload, rawPath], log) {
  const bytes = anyBytes(rawHeader, "form");
  const payload = optionalBytes(rawPayload, "form");
  const path = anyBytes(rawPath, "form");
  const header = readHeader(bytes);
  checkInclusion(logLeaf(bytes), header.seq, log.size, path, log.root);
  check(header.seq === fromBigEndian(subject), "header", "the header is that of another event");
  checkPresence(payload, opened, "the payload");
  const body = payload === null ? null : readPayload(payload, header.commitment, header.kind);
  return { shows: "LoggedEvent", header, body };
}

function prefix({ subject }, [rawPath], log) {
  const size = fromBigEndian(subject.subarray(0, SIZE_BYTES));
  checkConsistency(size, subject.subarray(SIZE_BYTES), log.size, log.root, anyBytes(rawPath, "form"));
  return { shows: "LogPrefix", size, into: log.size };
}

function recordedRoot({ subject }, [rawHeader, rawPath], log) {
  const bytes = anyBytes(rawHeader, "form");
  const path = anyBytes(rawPath, "form");
  const header = readHeader(bytes);
  check(header.kind === CHECKPOINT, "header", "the event is not a checkpoint");
  checkInclusion(logLeaf(bytes), header.seq, log.size, path, log.root);
  check(equal(header.detail.root, subject), "header", "the checkpoint holds another root");
  return { shows: "RecordedRoot", header };
}

function prefixOfRoot({ subject }, [rawOpening, rawPath], log, storeId) {
  const opening = readOpening(rawOpening, "form");
  const path = anyBytes(rawPath, "form");
  check(equal(overallRoot(storeId, opening), subject), "root", "the opening makes up another root than the claim's");
  checkConsistency(opening.size, opening.log, log.size, log.root, path);
  return { shows: "LogPrefix", size: opening.size, into: log.size };
}

function seenHead({ subject }, [rawHeader, rawPath], log) {
  const bytes = anyBytes(rawHeader, "form");
  const path = anyBytes(rawPath, "form");
  const header = readHeader(bytes);
  checkInclusion(logLeaf(bytes), header.seq, log.size, path, log.root);
  check(header.kind === FOREIGN_HEAD, "header", "the event records no head of another store");
  const { store_id: store, size, root } = header.detail;
  const seen = root !== null && equal(join(store, bigEndian(size, SIZE_BYTES), root), subject);
  check(seen, "header", "the event records another head");
  return { shows: "SeenHead", header };
}

export const LOG_CLAIMS = { 11: event, 12: prefix, 13: recordedRoot, 14: prefixOfRoot, 17: seenHead };
