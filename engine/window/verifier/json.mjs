// Answers as JSON: byte strings in hex, integers as they are, however large.

import { isBytes, toHex } from "./bytes.mjs";

export function toJson(value) {
  if (typeof value === "bigint") return value.toString();
  if (isBytes(value)) return `"${toHex(value)}"`;
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (value instanceof Map) return toObject([...value]);
  if (value !== null && typeof value === "object") return toObject(Object.entries(value));
  return JSON.stringify(value);
}

function toObject(entries) {
  const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${toJson(value)}`);
  return `{${members.join(",")}}`;
}
