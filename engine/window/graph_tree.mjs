// A quadtree over points, by which the repulsion of all points on one is added up without visiting each of them.

const LEAF = 8;
const DEPTH = 20;
/** A cell acts as one point on points that are further away than its side divided by this. */
const NEAR = 0.9;
/** Points closer than this repel each other as if they were this far apart. */
const CLOSEST = 25;

/** The cells stand in one row, each before its parts; `skip` leads past the parts of a cell. */
export class Tree {
  constructor(x, y) {
    Object.assign(this, { x, y });
    this.order = Int32Array.from(x, (_, at) => at);
    this.cells = { from: [], to: [], skip: [], side: [], middleX: [], middleY: [] };
    if (x.length > 0) this.add(0, x.length, squareAround(x, y), 0);
  }

  add(from, to, square, depth) {
    const { cells } = this;
    const at = cells.from.length;
    const [middleX, middleY] = this.middle(from, to);
    const cell = { from, to, skip: 0, side: square.side, middleX, middleY };
    for (const [name, value] of Object.entries(cell)) cells[name].push(value);
    if (to - from > LEAF && depth < DEPTH) this.split(from, to, square, depth + 1);
    cells.skip[at] = cells.from.length;
  }

  middle(from, to) {
    let [sumX, sumY] = [0, 0];
    for (let at = from; at < to; at++) {
      sumX += this.x[this.order[at]];
      sumY += this.y[this.order[at]];
    }
    return [sumX / (to - from), sumY / (to - from)];
  }

  split(from, to, { left, top, side }, depth) {
    const half = side / 2;
    const below = this.divide(from, to, this.y, top + half);
    for (const [start, end, down] of [[from, below, 0], [below, to, half]]) {
      const right = this.divide(start, end, this.x, left + half);
      if (right > start) this.add(start, right, { left, top: top + down, side: half }, depth);
      if (end > right) this.add(right, end, { left: left + half, top: top + down, side: half }, depth);
    }
  }

  /** Put the points whose coordinate is smaller than `limit` first; return where the others begin. */
  divide(from, to, coordinate, limit) {
    const { order } = this;
    let next = from;
    for (let at = from; at < to; at++) {
      const point = order[at];
      if (coordinate[point] >= limit) continue;
      order[at] = order[next];
      order[next++] = point;
    }
    return next;
  }

  /** Add to `push`, a pair, the repulsion on a point: from each other point 1 / distance, away from it. */
  repel(point, push) {
    const { x, y, order, cells } = this;
    const [hereX, hereY] = [x[point], y[point]];
    let [pushX, pushY] = [0, 0];
    for (let at = 0; at < cells.from.length; ) {
      const [from, to] = [cells.from[at], cells.to[at]];
      const [awayX, awayY] = [hereX - cells.middleX[at], hereY - cells.middleY[at]];
      const square = awayX * awayX + awayY * awayY;
      if (cells.side[at] * cells.side[at] < square * NEAR * NEAR) {
        pushX += (awayX * (to - from)) / square;
        pushY += (awayY * (to - from)) / square;
        at = cells.skip[at];
      } else if (cells.skip[at] > at + 1) {
        at++;
      } else {
        for (let place = from; place < to; place++) {
          const [otherX, otherY] = [hereX - x[order[place]], hereY - y[order[place]]];
          const apart = Math.max(CLOSEST, otherX * otherX + otherY * otherY);
          pushX += otherX / apart;
          pushY += otherY / apart;
        }
        at = cells.skip[at];
      }
    }
    push[0] = pushX;
    push[1] = pushY;
  }
}

function squareAround(x, y) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < x.length; at++) {
    left = Math.min(left, x[at]);
    right = Math.max(right, x[at]);
    top = Math.min(top, y[at]);
    bottom = Math.max(bottom, y[at]);
  }
  return { left, top, side: Math.max(right - left, bottom - top, 1) };
}
