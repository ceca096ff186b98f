// Calls of the service (`/v1/memories/{memory}/{operation}`), with the token of this session.

import { BrowserStorage } from "./storage.mjs";

const KEY = "memroot token";
/** The store as the commands that the page shows name it; only a page of `engine ui` knows it. */
const STORE = "memroot store";
const STORAGE = new BrowserStorage("sessionStorage");
/** The other tabs of this origin. A tab without a token asks them, so that no address needs to have one. */
const TABS = new BroadcastChannel("memroot");
const TABS_WAIT = 150;

/** A call failed; `code` and `hint` are those of the service's errors, or `unreachable`. */
export class CallFailed extends Error {
  constructor({ code, detail, hint = null, status = 0 }) {
    super(detail);
    Object.assign(this, { code, hint, status });
  }
}

/** Take the token from the end of the address, where it reaches no server and no log, and out of sight, or from another tab. */
export async function findToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (/^[\w-]+$/.test(given.get("token") ?? "")) {
    STORAGE.write(KEY, given.get("token"));
    STORAGE.write(STORE, given.get("store") ?? "");
    history.replaceState(null, "", location.pathname);
  }
  if (!hasToken()) await askTabs();
  TABS.onmessage = ({ data }) => data === "token?" && hasToken() && TABS.postMessage([STORAGE.read(KEY), storeName()]);
}

async function askTabs() {
  const answer = new Promise((resolve) => {
    TABS.onmessage = ({ data }) => Array.isArray(data) && resolve(data);
    setTimeout(() => resolve(null), TABS_WAIT);
  });
  TABS.postMessage("token?");
  const found = await answer;
  if (found === null) return;
  STORAGE.write(KEY, found[0]);
  STORAGE.write(STORE, found[1]);
}

/** Return the store for commands, or an empty text. */
export const storeName = () => STORAGE.read(STORE) ?? "";
export const keepToken = (token) => STORAGE.write(KEY, token);
export const hasToken = () => STORAGE.read(KEY) !== null;

const linesOf = (text) => text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));

async function answerOf(path, options) {
  const token = STORAGE.read(KEY);
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  if (options.body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CallFailed({ code: "unreachable", detail: "The service does not answer." });
  }
  const isLines = response.headers.get("content-type")?.startsWith("application/x-ndjson") ?? false;
  const value = await (isLines ? response.text().then(linesOf) : response.json()).catch(() => null);
  if (response.ok && value !== null) return value;
  const problem = value ?? { code: "failure", detail: `The service answered with the status ${response.status}.` };
  throw new CallFailed({ ...problem, status: response.status });
}

/** Return the names of the memories that the token may read, and its scope on each. */
export const memories = () => answerOf("/v1/memories", { method: "GET" });

/** The operations that can be asked about an earlier moment. */
const TIMED = ["across", "bright_nodes", "context", "duplicates", "edges", "explore", "find", "get", "page", "recall", "recent", "sources", "structured_graph", "tags", "titles", "why"];

/** The operations of one memory, as it is, or as it was after the event `moment`. */
export class Memory {
  constructor(name, scope = "read", moment = null) {
    Object.assign(this, { name, scope, moment, mayWrite: scope !== "read" });
  }

  /** Return the memory as it was after an event. What knows no earlier moment is answered as it is now. */
  asOf(moment) {
    return new Memory(this.name, "read", moment);
  }

  /** Return the result of an operation. */
  call(operation, given = {}, signal = undefined) {
    const path = `/v1/memories/${encodeURIComponent(this.name)}/${operation}`;
    const asked = this.moment !== null && TIMED.includes(operation) ? { ...given, as_of: this.moment } : given;
    return answerOf(path, { method: "POST", body: JSON.stringify(asked), signal });
  }
}
