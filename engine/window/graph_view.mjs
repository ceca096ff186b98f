// The drawing of a graph with its buttons, and what is chosen in it.

import { element } from "./dom.mjs";
import { counted } from "./facts.mjs";
import { Camera } from "./graph_camera.mjs";
import { control } from "./graph_controls.mjs";
import { draw, inksOf, radiusOf } from "./graph_drawing.mjs";
import { mermaidOf, svgOf } from "./graph_picture.mjs";
import { addressOf, expandButton, titleNodes } from "./graph_list.mjs";
import { isOpened } from "./graph_model.mjs";

const REACH = 8;
const ZOOM = 1.4;
const WORDS = { atom: "Read", tag: "Atoms with it", word: "Search for it" };
const HELP =
  "Arrow keys go from node to node, with Shift they move the drawing. Plus and minus zoom, 0 shows all, Enter reads a node, and the space bar expands it.";

/** A drawing that lasts while its graph grows. `expand` is called with a node that is to be expanded or folded. */
export class GraphView {
  constructor(expand) {
    Object.assign(this, { camera: new Camera(), graph: null, chosen: null, route: null, onexpand: expand });
    this.title = element("p", { class: "graph-title" });
    this.canvas = element("canvas", { tabindex: "0", role: "application", "aria-describedby": "graph-help" });
    this.bar = element("div", { class: "graph-chosen", "aria-live": "polite" });
    this.buttons = element("div", { class: "graph-buttons" }, this.button("+", "Zoom in", () => this.zoom(ZOOM)), this.button("−", "Zoom out", () => this.zoom(1 / ZOOM)), this.button("All", "Show all of the graph", () => this.fit()));
    this.root = element("div", { class: "graph-frame" }, this.canvas, this.buttons, this.bar, element("p", { class: "unseen", id: "graph-help" }, HELP));
    control(this.canvas, this);
    this.canvas.addEventListener("focus", () => this.paint());
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  button(sign, words, act) {
    return element("button", { class: "button", type: "button", "aria-label": words, title: words, onclick: act }, sign);
  }

  /** Show a graph, which is another state of the one before unless `isNew`. */
  show(graph, route, isNew) {
    Object.assign(this, { graph, route });
    this.canvas.setAttribute("aria-label", `Graph of ${counted(graph.nodes.size, "node")} and ${counted(graph.links.size, "relation")}. The list below is the same.`);
    if (isNew || !this.moved) this.fit();
    this.choose(graph.nodes.get(this.chosen?.id) ?? null);
  }

  fit() {
    this.moved = false;
    if (this.graph !== null) this.camera.fit([...this.graph.nodes.values()].map(({ place }) => place));
    this.paint();
  }

  resized() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const dense = Math.min(3, window.devicePixelRatio);
    Object.assign(this.canvas, { width: Math.round(width * dense), height: Math.round(height * dense) });
    Object.assign(this.camera, { width, height });
    if (this.moved) this.paint();
    else this.fit();
  }

  zoom(factor, place) {
    this.camera.zoom(factor, place);
    this.movedByPerson();
  }

  pan(across, down) {
    this.camera.pan(across, down);
    this.movedByPerson();
  }

  /** Draw again, and from now on show the part of the plane that the person chose, also in a window of another size. */
  movedByPerson() {
    this.moved = true;
    this.paint();
  }

  /** Draw in the next frame, once however often it is asked for. */
  paint() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      if (this.graph === null || !this.canvas.isConnected) return;
      const context = this.canvas.getContext("2d");
      const dense = this.canvas.width / Math.max(1, this.camera.width);
      context.setTransform(dense, 0, 0, dense, 0, 0);
      const covered = [this.buttons, this.bar].filter(({ hidden }) => !hidden).map(boxOf);
      draw(context, this.graph, this.camera, this.given(covered));
    });
  }

  given(covered = []) {
    return { chosen: this.chosen, inks: inksOf(this.root), looks: this.graph.looks, covered };
  }

  /** Return the buttons that keep what is seen as a picture or as a text. */
  pictureButtons() {
    const drawn = () => draw(this.canvas.getContext("2d"), this.graph, this.camera, this.given());
    const svg = () => save(new Blob([svgOf(this.graph, this.camera, this.given(), drawn())], { type: "image/svg+xml" }), "graph.svg");
    const mermaid = async ({ target }) => {
      await navigator.clipboard.writeText(mermaidOf(this.graph));
      target.textContent = "Copied";
    };
    return element("p", { class: "row" }, "Keep the picture:", this.button("SVG", "SVG", svg), this.button("PNG", "PNG", () => this.canvas.toBlob((blob) => save(blob, "graph.png"))), this.button("Copy for Mermaid", "Copy for Mermaid", mermaid));
  }

  nodeAt([x, y]) {
    let [found, nearest] = [null, Infinity];
    for (const node of this.graph?.nodes.values() ?? []) {
      const [atX, atY] = this.camera.seen(node.place);
      const far = Math.hypot(atX - x, atY - y) - radiusOf(node, this.camera.scale);
      if (far < Math.min(REACH, nearest)) [found, nearest] = [node, far];
    }
    return found;
  }

  /** A press chooses a node, and a second one expands it. */
  press(node) {
    if (node !== null && node === this.chosen) this.expand();
    else this.choose(node);
  }

  choose(node) {
    this.chosen = node;
    this.retitle();
    const parts = node === null ? [] : [
      this.title,
      element("a", { class: "button", href: addressOf(node, this.route) }, WORDS[node.kind]),
      node.kind === "atom" ? expandButton(node, this.onexpand) : "",
    ];
    this.bar.replaceChildren(...parts);
    this.bar.hidden = node === null;
    this.paint();
  }

  /** Name the chosen node again, whose title may have been opened since, and draw. */
  retitle() {
    const node = this.chosen;
    this.title.replaceChildren(...(node === null ? [] : [...titleNodes(node), element("span", { class: "muted small" }, ` ${counted(node.links.length, "relation")}`)]));
    this.title.classList.toggle("said", node !== null && !isOpened(node));
    this.paint();
  }

  read() {
    if (this.chosen !== null) location.hash = addressOf(this.chosen, this.route);
  }

  expand() {
    if (this.chosen?.kind === "atom") this.onexpand(this.chosen);
  }

  /** Choose the nearest node in a direction; without a chosen one, the most important node. */
  toward(across, down) {
    if (this.chosen === null) {
      this.choose(this.graph.ordered()[0] ?? null);
    } else {
      const [fromX, fromY] = this.chosen.place;
      let [found, least] = [null, Infinity];
      for (const node of this.graph.nodes.values()) {
        const [x, y] = [node.place[0] - fromX, node.place[1] - fromY];
        const ahead = x * across + y * down;
        const aside = Math.abs(x * down) + Math.abs(y * across);
        if (ahead > 1 && ahead + 2 * aside < least) [found, least] = [node, ahead + 2 * aside];
      }
      if (found !== null) this.choose(found);
    }
    if (this.chosen !== null && this.camera.follow(this.chosen.place)) this.movedByPerson();
  }
}

/** Keep data as a file of the person. */
function save(blob, name) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

const boxOf = ({ offsetLeft: left, offsetTop: top, offsetWidth, offsetHeight }) => ({ left, top, right: left + offsetWidth, bottom: top + offsetHeight });
