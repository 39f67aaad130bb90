"use strict";
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
