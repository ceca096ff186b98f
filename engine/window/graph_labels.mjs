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

/** Return the places along a line where its name may stand, the best first. */
function along([fromX, fromY], [toX, toY], width) {
  return [0.5, 0.35, 0.65].map((part) => boxAt(fromX + (toX - fromX) * part - width / 2, fromY + (toY - fromY) * part, width));
}

/**
 * Return the labels and names that can be shown, each with its box.
 *
 * `nodes` are seen on the screen, the most important first, each with x, y, radius and text. One with `mustShow` has a
 * label whatever it covers; the label of one with `isFirst` may cover nodes, but no other label. `lines` are those that
 * have a name, each with its text and its two ends. `widthOf` measures a text; `covered` are the boxes in the drawing
 * where no text is seen.
 */
export function labelled(nodes, lines, widthOf, { width, height, covered }) {
  const [texts, dots] = [new Taken(), new Taken()];
  for (const box of covered) texts.add(box);
  for (const { x, y, radius } of nodes) if (radius >= SMALL) dots.add({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
  const isInside = ({ left, top, right, bottom }) => left >= 0 && top >= 0 && right <= width && bottom <= height;
  const placed = (items, boxesOf, mayStand) => {
    const found = [];
    for (const item of items) {
      const inside = boxesOf(item).filter(isInside);
      const box = inside.find((one) => mayStand(item, one)) ?? (item.mustShow ? inside[0] : undefined);
      if (box === undefined) continue;
      texts.add(box);
      found.push({ item, ...box });
    }
    return found;
  };
  const mayLabel = ({ mustShow, isFirst }, box) => texts.isFree(box) && (mustShow || isFirst || dots.isFree(box));
  const boxesOf = (node) => beside(node, widthOf(node.text));
  const must = placed(nodes.filter(({ mustShow }) => mustShow), boxesOf, mayLabel);
  const names = placed(lines, ({ text, from, to }) => along(from, to, widthOf(text)), (_, box) => texts.isFree(box));
  const others = placed(nodes.filter(({ mustShow }) => !mustShow), boxesOf, mayLabel);
  return { labels: [...must, ...others], names };
}
