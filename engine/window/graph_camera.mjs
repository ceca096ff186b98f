// What part of the plane is seen: the point in the middle, and how large it is drawn.

const LEAST = 0.02;
const MOST = 6;
const MARGIN = 48;
/** To fill a wide or a high window, a graph is stretched by a factor between these; labels are wide and need it. */
const STRETCHED = [0.6, 2.2];

export class Camera {
  constructor() {
    Object.assign(this, { x: 0, y: 0, scale: 1, stretch: 1, width: 1, height: 1 });
  }

  /** Return the place on the screen of a place in the plane. */
  seen([x, y]) {
    return [(x - this.x) * this.scale * this.stretch + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  /** Show all of some places. */
  fit(places) {
    if (places.length === 0) return;
    const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
    const [left, right, top, bottom] = [least(xs), most(xs), least(ys), most(ys)];
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    const margin = Math.min(MARGIN, this.width / 14);
    const across = Math.max(40, this.width - 2 * margin) / Math.max(1, right - left);
    const down = Math.max(40, this.height - 2 * margin) / Math.max(1, bottom - top);
    const [narrow, wide] = STRETCHED;
    this.stretch = Math.min(wide, Math.max(narrow, Math.min(across, 2) / Math.min(down, 2)));
    this.scale = Math.min(1.6, Math.max(LEAST, Math.min(across / this.stretch, down)));
  }

  pan(across, down) {
    this.x -= across / this.scale / this.stretch;
    this.y -= down / this.scale;
  }

  /** Draw larger or smaller, with one place of the screen staying where it is. */
  zoom(factor, [across, down] = [this.width / 2, this.height / 2]) {
    const scale = Math.min(MOST, Math.max(LEAST, this.scale * factor));
    const [fromX, fromY] = [across - this.width / 2, down - this.height / 2];
    this.x += (fromX / this.scale - fromX / scale) / this.stretch;
    this.y += fromY / this.scale - fromY / scale;
    this.scale = scale;
  }

  /** Bring a place into sight, if it is not well within; return whether it was not. The bar below covers the lower edge. */
  follow(place) {
    const [x, y] = this.seen(place);
    const inside = x > MARGIN && y > MARGIN && x < this.width - MARGIN && y < this.height - 2 * MARGIN;
    if (!inside) [this.x, this.y] = place;
    return !inside;
  }
}

const least = (numbers) => numbers.reduce((one, other) => Math.min(one, other));
const most = (numbers) => numbers.reduce((one, other) => Math.max(one, other));
