// Where the nodes of a graph stand: links pull, nodes push. The same graph always gets the same places: nodes begin where
// their ids say, and the number of steps depends on the number of nodes, never on the time.

import { Tree } from "./graph_tree.mjs";

const LENGTH = 70;
const PUSH = 4200;
const INWARD = 0.03;
const KEPT = 0.6;
const SLICE = 10;
const CHUNK = 250;
const STEPS = [[300, 300], [1500, 200], [Infinity, 110]];

/** Return a number below 1 for a text, always the same (FNV-1a). */
function share(text, salt) {
  let hash = 0x811c9dc5 ^ salt;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/**
 * Return a map from each id to its place, a pair.
 *
 * `links` are pairs of ids. Nodes in `fixed`, a map from ids to places, stay where they are; the others begin beside a
 * node that they are linked with. The page stays responsive: after each slice of about 10 ms, `pause` is awaited.
 */
export async function laidOut(ids, links, fixed, pause) {
  const state = started([...ids].sort(), links, fixed);
  const { length } = state.x;
  const [, steps] = STEPS.find(([most]) => length <= most);
  let began = performance.now();
  const rest = async (step) => {
    if (performance.now() - began < SLICE) return;
    await pause(step / steps);
    began = performance.now();
  };
  if (state.free.length === 0) return placesOf(state);
  for (let step = 0; step < steps; step++) {
    const force = (1 - step / steps) ** 1.6;
    const tree = new Tree(state.x, state.y);
    for (let from = 0; from < state.free.length; from += CHUNK) {
      pushApart(state, tree, force, from, Math.min(from + CHUNK, state.free.length));
      await rest(step);
    }
    pullTogether(state, force);
    move(state);
  }
  return placesOf(state);
}

function started(ids, links, fixed) {
  const at = new Map(ids.map((id, index) => [id, index]));
  const pairs = links.map(([one, other]) => [at.get(one), at.get(other)]).filter(([one, other]) => one !== other);
  const degree = new Float64Array(ids.length);
  for (const [one, other] of pairs) {
    degree[one] += 1;
    degree[other] += 1;
  }
  const numbers = () => new Float64Array(ids.length);
  const state = { ids, pairs, degree, x: numbers(), y: numbers(), vx: numbers(), vy: numbers(), fixed };
  state.free = ids.map((_, index) => index).filter((index) => !fixed.has(ids[index]));
  const beside = new Map();
  for (const [one, other] of pairs) {
    if (fixed.has(ids[one])) beside.set(other, fixed.get(ids[one]));
    if (fixed.has(ids[other])) beside.set(one, fixed.get(ids[other]));
  }
  const spread = LENGTH * Math.sqrt(state.free.length);
  for (const [index, id] of ids.entries()) {
    const [x, y] = fixed.get(id) ?? begin(id, beside.get(index), spread);
    state.x[index] = x;
    state.y[index] = y;
  }
  return state;
}

/** Return where a node begins: beside another one, on the side that is away from the middle, or anywhere. */
function begin(id, beside, spread) {
  const [x, y] = [share(id, 1) - 0.5, share(id, 2) - 0.5];
  if (beside === undefined) return [x * spread, y * spread];
  const far = Math.max(1, Math.sqrt(beside[0] ** 2 + beside[1] ** 2));
  const out = LENGTH + spread / 4;
  return [beside[0] + (beside[0] / far) * out + (x * spread) / 2, beside[1] + (beside[1] / far) * out + (y * spread) / 2];
}

const pushed = [0, 0];

function pushApart({ free, x, y, vx, vy }, tree, force, from, to) {
  for (let at = from; at < to; at++) {
    const index = free[at];
    tree.repel(index, pushed);
    vx[index] += (pushed[0] * PUSH * force) / LENGTH - x[index] * INWARD * force;
    // Labels are wide and windows are, too: a graph is a little flatter than a disc.
    vy[index] += (pushed[1] * PUSH * force) / LENGTH - y[index] * INWARD * 2 * force;
  }
}

function pullTogether({ pairs, degree, x, y, vx, vy }, force) {
  for (const [one, other] of pairs) {
    const [awayX, awayY] = [x[other] + vx[other] - x[one] - vx[one], y[other] + vy[other] - y[one] - vy[one]];
    const far = Math.max(1, Math.sqrt(awayX * awayX + awayY * awayY));
    const pull = (((far - LENGTH) / far) * force) / Math.min(degree[one], degree[other]);
    const portion = degree[one] / (degree[one] + degree[other]);
    vx[other] -= awayX * pull * portion;
    vy[other] -= awayY * pull * portion;
    vx[one] += awayX * pull * (1 - portion);
    vy[one] += awayY * pull * (1 - portion);
  }
}

function move({ ids, fixed, x, y, vx, vy }) {
  for (let index = 0; index < ids.length; index++) {
    const stays = fixed.has(ids[index]);
    vx[index] *= stays ? 0 : KEPT;
    vy[index] *= stays ? 0 : KEPT;
    x[index] += vx[index];
    y[index] += vy[index];
  }
}

const placesOf = ({ ids, x, y }) => new Map(ids.map((id, index) => [id, [x[index], y[index]]]));
