// What the person does with a drawing: pan, zoom and choose, by mouse, touch and keyboard.

const STEP = 60;
const ZOOM = 1.3;
const STILL = 5;

/** Listen on a canvas. `view` has `zoom`, `pan`, `fit`, `nodeAt`, `press`, `read`, `expand` and `toward`. */
export function control(canvas, view) {
  pointers(canvas, view);
  // A wheel scrolls the page, unless the person is in the drawing or pinches.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    view.zoom(Math.exp(-event.deltaY / 400), [event.offsetX, event.offsetY]);
  });
  canvas.addEventListener("keydown", (event) => {
    const act = actOf(event, view);
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function actOf({ key, shiftKey, ctrlKey, metaKey, altKey }, view) {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (Object.hasOwn(ARROWS, key)) {
    const [across, down] = ARROWS[key];
    return () => (shiftKey ? view.pan(-across * STEP, -down * STEP) : view.toward(across, down));
  }
  return {
    "+": () => view.zoom(ZOOM),
    "=": () => view.zoom(ZOOM),
    "-": () => view.zoom(1 / ZOOM),
    0: () => view.fit(),
    Enter: () => view.read(),
    " ": () => view.expand(),
  }[key];
}

function pointers(canvas, view) {
  const down = new Map();
  let moved = 0;
  const placeOf = ({ offsetX, offsetY }) => [offsetX, offsetY];
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    // Two fingers never press.
    moved = down.size === 0 ? 0 : Infinity;
    down.set(event.pointerId, placeOf(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    const before = down.get(event.pointerId);
    if (before === undefined) {
      canvas.classList.toggle("on-node", view.nodeAt(place) !== null);
      return;
    }
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    moved += apart(place, before);
    down.set(event.pointerId, place);
    // A hand that presses shakes a little.
    if (moved <= STILL) return;
    if (other !== undefined) view.zoom(apart(place, other) / apart(before, other), [(place[0] + other[0]) / 2, (place[1] + other[1]) / 2]);
    const part = 1 / down.size;
    view.pan((place[0] - before[0]) * part, (place[1] - before[1]) * part);
  });
  const up = (event) => {
    const pressed = down.delete(event.pointerId) && down.size === 0 && moved <= STILL && event.type === "pointerup";
    if (pressed) view.press(view.nodeAt(placeOf(event)));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
}

const apart = ([x, y], [otherX, otherY]) => Math.max(1, Math.hypot(x - otherX, y - otherY));
