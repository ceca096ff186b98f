// Labels that cover neither each other nor a node: each takes the first free place beside its node, or is left out.

const CELL = 48;
const GAP = 5;
const HEIGHT = 16;
/** A label may cover nodes that are drawn smaller than this. */
const SMALL = 3.5;

class Taken {
  constructor() {
    this.cells = new Map();
  }

  *near({ left, top, right, bottom }) {
    for (let row = Math.floor(top / CELL); row <= Math.floor(bottom / CELL); row++) {
      for (let column = Math.floor(left / CELL); column <= Math.floor(right / CELL); column++) yield `${column} ${row}`;
    }
  }

  add(box) {
    for (const cell of this.near(box)) {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(box);
    }
  }

  isFree(box) {
    const meets = (other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
    for (const cell of this.near(box)) if (this.cells.get(cell)?.some(meets)) return false;
    return true;
  }
}

const boxAt = (left, middle, width) => ({ left, top: middle - HEIGHT / 2, right: left + width, bottom: middle + HEIGHT / 2 });

/** Return the places beside a node where its label may stand, the best first. */
function beside({ x, y, radius }, width) {
  const out = radius + GAP;
  return [
    boxAt(x + out, y, width),
    boxAt(x - out - width, y, width),
    boxAt(x - width / 2, y + out + HEIGHT / 2, width),
    boxAt(x - width / 2, y - out - HEIGHT / 2, width),
  ];
}

/**
 * Return the labels that can be shown, each with its box. `nodes` are seen on the screen, the most important first, each
 * with x, y, radius and text, and `isFirst` if it must have a label; `widthOf` measures a text.
 */
export function labelled(nodes, widthOf, { width, height }) {
  const taken = new Taken();
  for (const { x, y, radius } of nodes) if (radius >= SMALL) taken.add({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
  const labels = [];
  const isInside = ({ left, top, right, bottom }) => left >= 0 && top >= 0 && right <= width && bottom <= height;
  for (const node of nodes) {
    const box = beside(node, widthOf(node.text)).find((one) => isInside(one) && (node.isFirst || taken.isFree(one)));
    if (box === undefined) continue;
    taken.add(box);
    labels.push({ node, ...box });
  }
  return labels;
}
