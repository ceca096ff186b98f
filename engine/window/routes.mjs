// Where the person is, in the part of the address behind #, so that going back works and a link can be kept.

const FORMS = ["hits", "context", "graph", "names"];

/** A place: the memory, the question and its filters, the atoms whose neighbourhoods are drawn, and the atom that is read. */
export class Route {
  constructor({ memory = null, query = "", form = "hits", tags = [], sources = [], around = [], atom = null }) {
    Object.assign(this, { memory, query, form, tags, sources, around, atom });
  }

  static ofAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    return new Route({
      memory: given.get("memory"),
      query: given.get("q") ?? "",
      form: FORMS.includes(given.get("form")) ? given.get("form") : "hits",
      tags: given.getAll("tag"),
      sources: given.getAll("source"),
      around: [...new Set(given.getAll("around"))],
      atom: given.get("atom"),
    });
  }

  /** Return the address of another place, which differs from this one in some parts. */
  to(changes) {
    const place = { ...this, ...changes };
    const words = new URLSearchParams();
    if (place.memory !== null) words.set("memory", place.memory);
    if (place.query !== "") words.set("q", place.query);
    if (place.form !== "hits") words.set("form", place.form);
    for (const tag of place.tags) words.append("tag", tag);
    for (const source of place.sources) words.append("source", source);
    for (const id of place.around) words.append("around", id);
    if (place.atom !== null) words.set("atom", place.atom);
    return `#${words}`;
  }
}
