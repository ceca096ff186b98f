// How the types of relations look: a colour and a pattern each, the same in the drawing, the legend and the list.

const TYPES = [
  ...["references", "part_of", "related_to", "derived_from", "supersedes", "contradicts"],
  ...["next_in_source", "same_source", "shares_tag", "shares_bucket", "together"],
];
export const COLOURS = 6;
export const PATTERNS = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const SVG = "http://www.w3.org/2000/svg";

/** Return a map from each type to its colour and pattern, both numbers; well-known types always look alike. */
export function looks(types) {
  const others = types.filter((type) => !TYPES.includes(type)).sort();
  return new Map(types.map((type) => [type, lookAt(TYPES.includes(type) ? TYPES.indexOf(type) : TYPES.length + others.indexOf(type))]));
}

const lookAt = (at) => ({ colour: at % COLOURS, pattern: (at + Math.floor(at / COLOURS)) % PATTERNS.length });

/** Return a type of relation as words. */
export const wordsOf = (type) => type.replaceAll("_", " ");

/** Return a short line as it is drawn for a relation. */
export function sample({ colour, pattern }) {
  const drawn = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "path");
  for (const [name, value] of [["viewBox", "0 0 36 8"], ["class", `sample relation-${colour}`], ["aria-hidden", "true"]]) drawn.setAttribute(name, value);
  line.setAttribute("d", "M1 4h34");
  line.setAttribute("stroke-dasharray", PATTERNS[pattern].join(" "));
  drawn.append(line);
  return drawn;
}
