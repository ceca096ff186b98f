// A graph as a file: as it is seen, in SVG, and its names and relations as a text for Mermaid.

import { radiusOf } from "./graph_drawing.mjs";
import { PATTERNS, wordsOf } from "./graph_relations.mjs";

const SPECIAL = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => String(text).replaceAll(/[&<>"]/g, (one) => SPECIAL[one]);
const tag = (name, attributes, text = "") => `<${name}${Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`).join("")}>${text}</${name}>`;

/** Return a graph as a text in SVG, with the labels that were drawn of it. */
export function svgOf(graph, camera, { inks, looks }, labels) {
  const { width, height } = camera;
  const at = ({ place }) => camera.seen(place).map((value) => Math.round(value * 10) / 10);
  const lines = [...graph.links.values()].map(({ from, to, type }) => {
    const { colour, pattern } = looks.get(type);
    const [[x1, y1], [x2, y2]] = [at(from), at(to)];
    return tag("line", { x1, y1, x2, y2, stroke: inks.relations[colour], "stroke-width": 1.4, "stroke-dasharray": PATTERNS[pattern].join(" ") }, tag("title", {}, escaped(wordsOf(type))));
  });
  const dots = [...graph.nodes.values()].map((node) => {
    const [cx, cy] = at(node);
    return tag("circle", { cx, cy, r: radiusOf(node, camera.scale), fill: inks.accent }, tag("title", {}, escaped(node.label)));
  });
  const texts = labels.map(({ item, left, top, bottom }) => tag("text", { x: left, y: (top + bottom) / 2, fill: inks.ink, "font-size": 12, "font-family": "sans-serif", "dominant-baseline": "middle" }, escaped(item.text)));
  const ground = tag("rect", { width, height, fill: inks.surface });
  return tag("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}` }, [ground, ...lines, ...dots, ...texts].join("\n"));
}

/** Return a graph as a text for Mermaid. */
export function mermaidOf(graph) {
  const ids = new Map([...graph.nodes.keys()].map((id, at) => [id, `n${at}`]));
  const quoted = (text) => `"${text.replaceAll(/["\n\r]/g, "'")}"`;
  const nodes = [...graph.nodes.values()].map(({ id, label }) => `  ${ids.get(id)}[${quoted(label)}]`);
  const links = [...graph.links.values()].map(({ src, dst, type, directed }) => `  ${ids.get(src)} ${directed ? "-->" : "---"}|${quoted(wordsOf(type))}| ${ids.get(dst)}`);
  return ["graph LR", ...nodes, ...links].join("\n");
}
