// Where the person is, in the part of the address behind #, so that going back works and a link can be kept.

/** The parts of a place that are lists of words, by the word for each in the address. */
const LISTS = { tag: "tags", bucket: "buckets", source: "sources", provenance: "provenances" };
/** The parts that are one word or null. */
const WORDS = ["memory", "view", "at", "since", "until", "page", "atom", "erase"];
const SEQ = /^\d{1,15}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

const FORMS = ["hits", "context", "graph", "names"];

export const NO_FILTERS = { tags: [], buckets: [], sources: [], provenances: [], since: null, until: null };

/**
 * A place: the memory, the view, the moment that is shown, the question and its filters, the atoms whose
 * neighbourhoods are drawn, the page that is read, the atom that is read alone or in it, and the atom whose erasure is
 * looked at.
 */
export class Route {
  constructor(given) {
    Object.assign(this, { memory: null, view: null, at: null, query: "", form: "hits", around: [], page: null, atom: null, erase: null }, NO_FILTERS, given);
  }

  static ofAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    return new Route({
      query: given.get("q") ?? "",
      form: FORMS.includes(given.get("form")) ? given.get("form") : "hits",
      around: [...new Set(given.getAll("around"))],
      ...Object.fromEntries(WORDS.map((word) => [word, given.get(word)])),
      ...Object.fromEntries(Object.entries(LISTS).map(([word, part]) => [part, given.getAll(word)])),
    });
  }

  /** Return the address of another place, which differs from this one in some parts. An atom is read alone unless a page is named. */
  to(changes) {
    const place = { ...this, ...(changes.atom === undefined ? {} : { page: null }), ...changes };
    const words = new URLSearchParams();
    if (place.query !== "") words.set("q", place.query);
    if (place.form !== "hits") words.set("form", place.form);
    for (const [word, part] of Object.entries(LISTS)) for (const one of place[part]) words.append(word, one);
    for (const id of place.around) words.append("around", id);
    for (const word of WORDS) if (place[word] !== null) words.set(word, place[word]);
    return `#${words}`;
  }

  /** Return the seq of the last event of an earlier moment that is shown, or null for now. */
  moment() {
    return this.at !== null && SEQ.test(this.at) ? Number(this.at) : null;
  }

  /** Return the filters as pairs of a part and a word. */
  filters() {
    const lists = Object.values(LISTS).flatMap((part) => this[part].map((word) => [part, word]));
    return [...lists, ...["since", "until"].filter((part) => this[part] !== null).map((part) => [part, this[part]])];
  }

  /** Return the parameters of an operation that stand for the filters. A day begins at midnight, UTC. */
  narrowing() {
    const { tags, buckets, sources, provenances } = this;
    const times = ["since", "until"].filter((part) => this[part] !== null);
    const instant = (text) => (DAY.test(text) ? `${text}T00:00:00Z` : text);
    return { tags, buckets, sources, provenances, ...Object.fromEntries(times.map((part) => [part, instant(this[part])])) };
  }

  /** Return what differs in a place that has one filter more, or one less. */
  withFilter(part, word) {
    return { [part]: Array.isArray(this[part]) ? [...new Set([...this[part], word])] : word, atom: null };
  }

  withoutFilter(part, word) {
    return { [part]: Array.isArray(this[part]) ? this[part].filter((one) => one !== word) : null };
  }
}
