// The control that sets the moment of everything on the page: a slider over the events, and a date.

import { element, mark, quoted } from "./dom.mjs";
import { counted, second } from "./facts.mjs";
import { failed } from "./marks.mjs";
import { openEvents } from "./opened.mjs";

const PAUSE = 250;

/** A control in `place`. `go` is called with the seq of the last event to show, or null for now. */
export class MomentControl {
  constructor(place, trust, go) {
    Object.assign(this, { place, trust, memory: trust.memory, go, size: 0, moment: null, waiting: null, asked: null, problem: null });
    this.slider = element("input", { type: "range", id: "moment-event", min: 0, max: 0, step: 1 });
    this.date = element("input", { type: "datetime-local", id: "moment-date", step: 1 });
    this.says = element("p", { class: "moment-says", role: "status" });
    this.now = element("button", { class: "button", type: "button", onclick: () => this.choose(null) }, "Back to now");
    this.slider.addEventListener("input", () => this.slide());
    this.date.addEventListener("change", () => this.goToDate());
  }

  /** Show a moment: the seq of an event, or null for now. `visible` is false where the control is not wanted. */
  async show(moment, visible) {
    if (moment !== this.moment) this.problem = null;
    this.moment = moment;
    this.place.hidden = !visible;
    this.place.classList.toggle("earlier", moment !== null);
    if (!visible) return;
    if (this.place.childElementCount === 0) this.build();
    if (moment === null || this.size === 0) this.size = await this.trust.size();
    const last = Math.max(0, this.size - 1);
    this.slider.max = String(last);
    if (document.activeElement !== this.slider) this.slider.value = String(moment ?? last);
    this.now.hidden = moment === null;
    await this.tell(moment ?? last);
  }

  build() {
    const field = (input, words) => element("div", { class: "field" }, element("label", { for: input.id }, words), input);
    this.place.replaceChildren(
      element("div", { class: "row" }, this.says, this.now),
      element("div", { class: "moment-fields" }, field(this.slider, "As of event"), field(this.date, "Date and time, UTC")),
    );
  }

  /** Say which moment is shown, with the time of its last event. */
  async tell(seq) {
    const isNow = this.moment === null && seq === this.size - 1;
    const words = isNow ? mark("plain", `Now: ${counted(this.size, "event")}`) : mark("warned", `An earlier moment: after event ${seq.toLocaleString("en")}`);
    this.slider.setAttribute("aria-valuetext", `event ${seq} of ${this.size - 1}`);
    this.say(words);
    const event = (await openEvents(this.trust, [seq], [seq])).get(seq);
    if (Number(this.slider.value) !== seq) return;
    if (event instanceof Error) return this.say(words, failed(event));
    const time = second(event.time);
    this.say(words, element("time", {}, time));
    const isTyped = document.activeElement === this.date || this.asked !== null || this.problem !== null;
    if (!isTyped) this.date.value = time.slice(0, 19).replace(" ", "T");
  }

  /** Say something about the moment that is shown. What was wrong with the last date stays until another is chosen. */
  say(...nodes) {
    this.says.replaceChildren(...(this.problem ?? nodes));
  }

  slide() {
    clearTimeout(this.waiting);
    this.asked = this.problem = null;
    const seq = Number(this.slider.value);
    this.say(mark("plain", `Event ${seq.toLocaleString("en")} …`));
    this.waiting = setTimeout(() => this.choose(seq), PAUSE);
  }

  choose(seq) {
    this.asked = this.problem = null;
    if (seq === null) this.slider.value = this.slider.max;
    this.moment = seq === null || seq >= this.size - 1 ? null : seq;
    this.go(this.moment);
  }

  async goToDate() {
    if (this.date.value === "") return;
    const time = `${this.date.value}Z`;
    this.asked = time;
    this.problem = null;
    try {
      const { before } = await this.memory.call("diff", { before: time, after: time });
      if (this.asked !== time) return;
      this.slider.value = String(before);
      this.choose(before);
    } catch (error) {
      if (this.asked !== time) return;
      this.asked = null;
      this.problem = [mark("warned", "No such moment"), quoted(error.message)];
      this.say();
    }
  }
}
