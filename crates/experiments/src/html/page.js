"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const short = (v) => {
    if (v === 0) return "0";
    const size = Math.abs(v);
    return (size < 1e-3 || size >= 1e6 ? v.toExponential(2) : String(Number(v.toPrecision(4)))).replace("-", "−");
  };
  const numbers = (text) => text.trim().split(/\s+/).map(Number);

  // Tables: a click on a heading sorts by it, another one turns the order round.
  document.querySelectorAll("button[data-sort]").forEach((button) => {
    button.disabled = false;
    button.addEventListener("click", () => {
      const head = button.closest("th"), body = head.closest("table").tBodies[0];
      const down = head.getAttribute("aria-sort") === "ascending";
      head.parentNode.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => {
        const text = row.cells[head.cellIndex].textContent.trim().replace("−", "-");
        const number = /^[+-]?[\d.]/.test(text) ? parseFloat(text) : NaN;
        return Number.isNaN(number) ? text : number;
      };
      const order = (a, b) => {
        if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        return typeof a === "number" ? a - b : a.localeCompare(b);
      };
      const rows = [...body.rows].map((row) => [value(row), row]);
      rows.sort(([a], [b]) => (down ? -1 : 1) * order(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  });

  // Legends: a button turns its series off in all panels of its picture.
  document.querySelectorAll("button[data-toggle]").forEach((button) => {
    button.disabled = false;
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      const own = `[data-series="${button.dataset.toggle}"]`;
      button.closest("figure").querySelectorAll(own).forEach((group) => { group.style.display = on ? "" : "none"; });
    });
  });

  // Values: the nearest point of a panel, by pointer or arrow keys; zoom by keys or by drawing a box.
  const tip = document.createElement("output");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const say = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = text === "";
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - tip.offsetHeight - 4))}px`;
  };

  class Chart {
    constructor(picture) {
      this.picture = picture;
      this.svg = picture.querySelector("svg.chart");
      this.plot = this.svg.querySelector("svg.plot");
      [this.left, this.top, this.width, this.height] = numbers(this.svg.dataset.frame);
      this.x = numbers(this.svg.dataset.x);
      this.y = numbers(this.svg.dataset.y);
      this.box = [0, 0, this.width, this.height];
      this.at = -1;
    }
    // The value of an axis at a share of it.
    value([low, high, log], share) {
      return log ? Math.exp(Math.log(low) + share * Math.log(high / low)) : low + share * (high - low);
    }
    points() {
      if (this.known) return this.known;
      const names = {};
      this.picture.closest("figure").querySelectorAll("[data-toggle]").forEach((b) => { names[b.dataset.toggle] = b.textContent.trim(); });
      this.known = [];
      this.plot.querySelectorAll("path.line, path.dash, path.dots").forEach((path) => {
        const group = path.parentNode, name = names[group.dataset.series] || "";
        for (const [, x, y] of path.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)) this.known.push({ group, name, x: +x, y: +y });
      });
      this.known.sort((a, b) => a.x - b.x);
      return this.known;
    }
    // From pixels of the screen to those of the unzoomed frame.
    inside(event) {
      const matrix = this.svg.getScreenCTM().inverse(), p = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
      const [x, y, w, h] = this.box;
      return [x + ((p.x - this.left) / this.width) * w, y + ((p.y - this.top) / this.height) * h];
    }
    shown(p) {
      const [x, y, w, h] = this.box;
      return p.group.style.display !== "none" && p.x >= x && p.x <= x + w && p.y >= y && p.y <= y + h;
    }
    tell(point, x, y) {
      const [bx, by, bw, bh] = this.box;
      if (!this.ring) {
        this.ring = document.createElementNS(SVG, "circle");
        this.ring.setAttribute("class", "ring");
        this.ring.setAttribute("r", "5");
        this.plot.append(this.ring);
      }
      const px = ((point.x - bx) / bw) * this.width, py = ((point.y - by) / bh) * this.height;
      this.ring.setAttribute("cx", px);
      this.ring.setAttribute("cy", py);
      if (x === undefined) {
        const place = new DOMPoint(this.left + px, this.top + py).matrixTransform(this.svg.getScreenCTM());
        [x, y] = [place.x, place.y];
      }
      const value = `${short(this.value(this.y, 1 - point.y / this.height))} at ${short(this.value(this.x, point.x / this.width))}`;
      say(point.name ? `${point.name}: ${value}` : value, x, y);
    }
    hide() {
      say("", 0, 0);
      this.ring?.remove();
      this.ring = undefined;
    }
    near(event) {
      const [x, y] = this.inside(event), [, , w, h] = this.box;
      let best, least = 0.06;
      for (const p of this.points()) {
        const far = Math.hypot((p.x - x) / w, (p.y - y) / h);
        if (far < least && this.shown(p)) [best, least] = [p, far];
      }
      best ? this.tell(best, event.clientX, event.clientY) : this.hide();
    }
    step(by) {
      const all = this.points().filter((p) => this.shown(p));
      if (all.length === 0) return;
      this.at = (this.at + by + all.length) % all.length;
      this.tell(all[this.at]);
    }
    zoom(box) {
      const [W, H] = [this.width, this.height];
      let [x, y, w, h] = box;
      w = Math.min(W, Math.max(W / 200, w));
      h = Math.min(H, Math.max(H / 200, h));
      x = Math.max(0, Math.min(W - w, x));
      y = Math.max(0, Math.min(H - h, y));
      this.box = [x, y, w, h];
      const [sx, sy] = [W / w, H / h];
      const place = `matrix(${sx} 0 0 ${sy} ${-x * sx} ${-y * sy})`;
      this.plot.querySelectorAll("path, image").forEach((part) => part.setAttribute("transform", place));
      this.plot.querySelectorAll("text").forEach((word) => {
        word.dataset.x ??= word.getAttribute("x");
        word.dataset.y ??= word.getAttribute("y");
        word.setAttribute("x", (word.dataset.x - x) * sx);
        word.setAttribute("y", (word.dataset.y - y) * sy);
      });
      this.svg.querySelector(".ticks")?.remove();
      const whole = w === W && h === H;
      this.svg.querySelector(".axes").style.display = whole ? "" : "none";
      if (!whole) this.ticks();
      this.hide();
    }
    // The axes of a part: four values each, at equal distances.
    ticks() {
      const [x, y, w, h] = this.box, group = document.createElementNS(SVG, "g");
      group.setAttribute("class", "ticks");
      const add = (px, py, anchor, text) => {
        const word = document.createElementNS(SVG, "text");
        word.setAttribute("x", px);
        word.setAttribute("y", py);
        word.setAttribute("text-anchor", anchor);
        word.textContent = text;
        group.append(word);
      };
      for (let i = 0; i <= 3; i++) {
        add(this.left + (i / 3) * this.width, this.top + this.height + 16, ["start", "middle", "middle", "end"][i], short(this.value(this.x, (x + (i / 3) * w) / this.width)));
        add(this.left - 6, this.top + this.height - (i / 3) * this.height + 4, "end", short(this.value(this.y, 1 - (y + h - (i / 3) * h) / this.height)));
      }
      const frame = document.createElementNS(SVG, "path");
      frame.setAttribute("class", "frame");
      frame.setAttribute("d", `M${this.left} ${this.top}V${this.top + this.height}H${this.left + this.width}`);
      group.append(frame);
      this.svg.append(group);
    }
    closer(factor) {
      const [x, y, w, h] = this.box;
      this.zoom([x + (w * (1 - factor)) / 2, y + (h * (1 - factor)) / 2, w * factor, h * factor]);
    }
  }

  document.querySelectorAll(".picture").forEach((picture) => {
    let chart, from;
    const own = () => (chart ??= new Chart(picture));
    picture.title = "Point at a value to read it. Draw a box to zoom in, double click to see everything. Keys: ← → values, + − 0 zoom.";
    picture.addEventListener("pointermove", (event) => { if (!from) own().near(event); });
    picture.addEventListener("pointerleave", () => chart?.hide());
    picture.addEventListener("blur", () => chart?.hide());
    picture.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse" && event.button === 0) from = own().inside(event); });
    picture.addEventListener("pointerup", (event) => {
      if (!from) return;
      const to = own().inside(event), [w, h] = [Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])];
      if (w > chart.box[2] / 30 && h > chart.box[3] / 30) chart.zoom([Math.min(from[0], to[0]), Math.min(from[1], to[1]), w, h]);
      from = undefined;
    });
    picture.addEventListener("dblclick", () => own().zoom([0, 0, chart.width, chart.height]));
    picture.addEventListener("keydown", (event) => {
      const act = {
        ArrowRight: () => chart.step(1), ArrowLeft: () => chart.step(-1), "+": () => chart.closer(0.6), "=": () => chart.closer(0.6),
        "-": () => chart.closer(1 / 0.6), 0: () => chart.zoom([0, 0, chart.width, chart.height]), Escape: () => chart.hide(),
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      own();
      act();
      event.preventDefault();
    });
  });

  // The citation goes to the clipboard where a page may write there, and is marked for copying where not.
  document.querySelectorAll("button[data-copy]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Marked: copy it";
      }
    });
  });
})();
