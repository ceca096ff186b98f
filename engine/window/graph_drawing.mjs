// A graph drawn on a canvas, in the colours of the page.

import { labelled } from "./graph_labels.mjs";
import { isOpened } from "./graph_model.mjs";
import { COLOURS, PATTERNS, wordsOf } from "./graph_relations.mjs";

const LABELS_MAX = 400;
const NAMES_MAX = 12;
/** With more links than this, those of the chosen node alone have patterns and arrows: dashes are slow to draw. */
const PATTERNS_MAX = 1500;
const RING = 7;
const CROWDED = 120;
/** How wide the ribbon through the texts of one source is. */
const RIBBON = 34;

/** Return the colours and the font of the page, as they are now. */
export function inksOf(root) {
  const styles = getComputedStyle(root);
  const of = (name) => styles.getPropertyValue(`--${name}`).trim();
  const names = ["ink", "muted", "surface", "accent", "accent-soft", "refused", "edge", "second-soft"];
  const relations = Array.from({ length: COLOURS }, (_, at) => of(`relation-${at}`));
  return { ...Object.fromEntries(names.map((name) => [name, of(name)])), relations, font: styles.fontFamily };
}

/** Return how large a node is drawn, in pixels. */
export function radiusOf(node, scale) {
  const full = 2.5 + 6 * node.bright + Math.min(5, Math.sqrt(node.links.length) / 2);
  return Math.max(1.5, full * Math.min(1.25, Math.max(0.35, scale)));
}

/** Draw `graph` as `camera` sees it, and return the labels with their boxes; `chosen` is a node or null, `inks` are of `inksOf`, `covered` are boxes without text. */
export function draw(context, graph, camera, { chosen, inks, looks, covered }) {
  const { width, height } = camera;
  context.clearRect(0, 0, width, height);
  context.lineCap = "butt";
  const near = chosen === null ? null : new Set([chosen, ...chosen.links.map((link) => otherEnd(link, chosen))]);
  drawRibbons(context, graph, camera, inks);
  drawLinks(context, graph, camera, { chosen, inks, looks });
  const seen = drawNodes(context, graph, camera, { chosen, inks, near });
  return drawTexts(context, seen, camera, { chosen, inks, looks, near, covered });
}

/** Draw one ribbon through the nodes of each source, in their order. */
function drawRibbons(context, graph, camera, inks) {
  Object.assign(context, { strokeStyle: inks["second-soft"], lineJoin: "round", lineCap: "round", lineWidth: RIBBON });
  context.setLineDash([]);
  for (const nodes of graph.groups()) {
    context.beginPath();
    for (const { place } of nodes) context.lineTo(...camera.seen(place));
    context.stroke();
  }
  context.lineCap = "butt";
}

const otherEnd = ({ from, to }, node) => (from === node ? to : from);

function drawLinks(context, graph, camera, { chosen, inks, looks }) {
  const groups = new Map();
  for (const link of graph.links.values()) {
    const isNear = chosen !== null && (link.from === chosen || link.to === chosen);
    const refused = link.state === "refused";
    const key = `${isNear ? 1 : 0}${link.state}${link.type}`;
    if (!groups.has(key)) groups.set(key, { isNear, refused, isFaint: link.state === "said", look: looks.get(link.type), links: [] });
    groups.get(key).links.push(link);
  }
  const crowded = graph.links.size > CROWDED;
  const hub = chosen !== null && chosen.links.length > CROWDED;
  const many = graph.links.size > PATTERNS_MAX;
  for (const { isNear, refused, isFaint, look, links } of [...groups.values()].sort((one, other) => one.isNear - other.isNear)) {
    context.strokeStyle = context.fillStyle = refused ? inks.refused : inks.relations[look.colour];
    context.globalAlpha = chosen !== null && !isNear ? 0.3 : isNear ? (hub ? 0.65 : 1) : many ? 0.2 : crowded ? 0.65 : 1;
    // A relation that no proof covers is fainter than one that a proof shows.
    if (isFaint) context.globalAlpha *= 0.55;
    context.lineWidth = refused ? 3 : isNear ? (hub ? 1 : 2) : many ? 0.75 : crowded ? 1 : 1.4;
    context.setLineDash(many && !isNear ? [] : PATTERNS[look.pattern]);
    context.beginPath();
    for (const { from, to } of links) {
      context.moveTo(...camera.seen(from.place));
      context.lineTo(...camera.seen(to.place));
    }
    context.stroke();
    if (!many || isNear) for (const link of links) if (link.directed) arrow(context, link, camera);
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** Draw the head of an arrow where a link meets its second node. */
function arrow(context, { from, to }, camera) {
  const [[fromX, fromY], [toX, toY]] = [camera.seen(from.place), camera.seen(to.place)];
  const far = Math.hypot(toX - fromX, toY - fromY);
  if (far < 24) return;
  const [alongX, alongY] = [(toX - fromX) / far, (toY - fromY) / far];
  const back = radiusOf(to, camera.scale) + 2;
  const [tipX, tipY] = [toX - alongX * back, toY - alongY * back];
  context.beginPath();
  context.moveTo(tipX, tipY);
  context.lineTo(tipX - 8 * alongX + 3.5 * alongY, tipY - 8 * alongY - 3.5 * alongX);
  context.lineTo(tipX - 8 * alongX - 3.5 * alongY, tipY - 8 * alongY + 3.5 * alongX);
  context.fill();
}

/** Draw the nodes in sight, and return them with their places on the screen. */
function drawNodes(context, graph, camera, { chosen, inks, near }) {
  const seen = [];
  for (const node of graph.nodes.values()) {
    const [x, y] = camera.seen(node.place);
    if (x < -20 || y < -20 || x > camera.width + 20 || y > camera.height + 20) continue;
    const radius = radiusOf(node, camera.scale);
    seen.push({ node, x, y, radius: radius + (node === chosen ? RING : 0), text: node.label, mustShow: node === chosen, isFirst: node.isOpen });
    context.globalAlpha = near === null || near.has(node) ? 1 : 0.45;
    context.fillStyle = inks.accent;
    context.strokeStyle = inks.surface;
    context.lineWidth = 1.5;
    context.beginPath();
    if (node.kind === "atom") context.arc(x, y, radius, 0, 2 * Math.PI);
    else context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    context.fill();
    if (radius > 3) context.stroke();
    if (node.isOpen) ring(context, x, y, radius + 3, 1.5, inks.accent);
    if (node === chosen) ring(context, x, y, radius + RING - 2, 3, inks.ink);
  }
  context.globalAlpha = 1;
  return seen;
}

function ring(context, x, y, radius, width, ink) {
  context.strokeStyle = ink;
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}

function drawTexts(context, seen, camera, { chosen, inks, looks, near, covered }) {
  const weight = ({ node }) => (node === chosen ? 1e6 : 0) + (near?.has(node) ? 1e4 : 0) + (node.isOpen ? 1e5 : 0) + node.bright * 100 + node.links.length;
  const isInside = ({ x, y }) => x >= 0 && y >= 0 && x <= camera.width && y <= camera.height;
  const ordered = seen.filter(isInside).sort((one, other) => weight(other) - weight(one)).slice(0, LABELS_MAX);
  const upright = `500 12px ${inks.font}`;
  context.font = upright;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  const widthOf = (text) => context.measureText(text).width;
  const { labels, names } = labelled(ordered, namedLines(chosen, camera, widthOf), widthOf, { ...camera, covered });
  for (const { item, left, top, bottom } of labels) {
    const isFaint = near !== null && !near.has(item.node);
    context.font = isOpened(item.node) ? upright : `italic ${upright}`;
    write(context, item.text, left, (top + bottom) / 2, isFaint ? inks.muted : inks.ink, inks);
  }
  for (const { item, left, top, bottom } of names) {
    context.font = `${item.isProved ? "" : "italic "}500 11px ${inks.font}`;
    write(context, item.text, left, (top + bottom) / 2, inks.relations[looks.get(item.type).colour], inks);
  }
  return labels;
}

/** Return the links of the chosen node that have their type written beside them: where they are few, and long enough. */
function namedLines(chosen, camera, widthOf) {
  if (chosen === null || chosen.links.length > NAMES_MAX) return [];
  const lines = chosen.links.map(({ type, from, to, state }) => ({ type, isProved: state === "proved", text: wordsOf(type), from: camera.seen(from.place), to: camera.seen(to.place) }));
  return lines.filter(({ text, from, to }) => Math.hypot(to[0] - from[0], to[1] - from[1]) >= widthOf(text) + 30);
}

function write(context, text, left, middle, ink, inks) {
  context.strokeStyle = inks.surface;
  context.lineWidth = 3;
  context.strokeText(text, left, middle);
  context.fillStyle = ink;
  context.fillText(text, left, middle);
}
