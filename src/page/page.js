// SPDX-License-Identifier: Apache-2.0
// What the page can do with scripts: light or dark, what a mark says, tables that sort, two kernels to compare, one rung
// at a time. Without scripts everything is there, and these controls are not.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, text = "", attributes = {}) => {
    const element = Object.assign(document.createElement(tag), {textContent: text});
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  all(".scripted").forEach((element) => { element.hidden = false; });

  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // Marks carry their words for screen readers; here they show them to a pointer and to the keyboard.
  const tip = document.getElementById("tip");
  const show = (mark, x, y) => {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = Math.max(8, Math.min(y + 14, innerHeight - tip.offsetHeight - 8)) + "px";
  };
  const marks = all("svg.marks [aria-roledescription][aria-label]").filter((mark) =>
    !["axis", "legend", "title", "visualization"].includes(mark.getAttribute("aria-roledescription")) &&
    mark.tagName !== "svg" && mark.tagName !== "g");
  const fade = (kernel) => {
    for (const mark of marks) {
      const name = mark.getAttribute("aria-label").split(/[: ]/, 1)[0];
      mark.classList.toggle("faded", Boolean(kernel) && kernel !== name && name in data.kernels);
    }
  };
  for (const mark of marks) {
    mark.setAttribute("tabindex", "0");
    mark.addEventListener("pointermove", (event) => show(mark, event.clientX, event.clientY));
    mark.addEventListener("focus", () => {
      const box = mark.getBoundingClientRect();
      show(mark, box.right, box.top);
    });
    for (const name of ["pointerleave", "blur"]) mark.addEventListener(name, () => { tip.hidden = true; });
  }

  // "12.3" and "1e-07" before words; words by the alphabet, shapes by their numbers.
  const key = (cell) => {
    const text = cell.textContent.trim();
    return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b, "en", {numeric: true});
  };
  for (const table of all("table.sortable")) {
    const titles = all("thead th", table);
    titles.forEach((title, column) => {
      const button = make("button", title.textContent, {type: "button"});
      title.replaceChildren(button);
      button.addEventListener("click", () => {
        const sign = title.getAttribute("aria-sort") === "descending" ? 1 : -1;
        titles.forEach((other) => other.removeAttribute("aria-sort"));
        title.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
        rows.sort((a, b) => sign * order(a[0], b[0]));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
    for (const row of table.tBodies[0].rows) {
      row.addEventListener("pointerenter", () => fade(row.dataset.kernel));
      row.addEventListener("pointerleave", () => fade(null));
    }
  }
  document.getElementById("filter").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const row of all("table.sortable tbody tr")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });

  const first = document.getElementById("first");
  const second = document.getElementById("second");
  const compare = () => {
    const [a, b] = [first.value, second.value];
    const [left, right] = [a, b].map((name) => new Map(data.kernels[name]));
    const names = [...new Set([...left.keys(), ...right.keys()])];
    const table = document.getElementById("pair");
    [...table.tHead.rows[0].cells].slice(1).forEach((cell, i) => { cell.textContent = [a, b][i]; });
    table.tBodies[0].replaceChildren(...names.map((name) => {
      const row = make("tr");
      const texts = [left.get(name) ?? "-", right.get(name) ?? "-"];
      row.classList.toggle("differs", texts[0] !== texts[1]);
      row.append(make("th", name, {scope: "row"}), ...texts.map((text) => make("td", text)));
      return row;
    }));
    document.getElementById("why").textContent = (data.why[a]?.[b] ?? data.why[b]?.[a] ?? []).join(" ");
  };
  if (first) {
    first.addEventListener("change", compare);
    second.addEventListener("change", compare);
  }

  const rungs = all(".rung");
  if (rungs.length > 1) {
    const chosen = make("select", "", {id: "rung"});
    chosen.append(make("option", "all", {value: ""}), ...rungs.map((rung) => make("option", rung.dataset.kernel)));
    const label = make("label", "show ");
    label.append(chosen);
    document.getElementById("pick-rung").append(label);
    // All of them are many screens long: the rung that the comparison begins with, until another one is asked for.
    chosen.value = rungs.some((rung) => rung.dataset.kernel === second?.value) ? second.value : rungs[0].dataset.kernel;
    const pick = () => {
      for (const rung of rungs) rung.style.display = chosen.value && rung.dataset.kernel !== chosen.value ? "none" : "";
    };
    chosen.addEventListener("change", pick);
    pick();
    // A link to a rung that is not shown shows it.
    addEventListener("hashchange", () => {
      const name = decodeURIComponent(location.hash.slice(1));
      if (chosen.value && rungs.some((rung) => rung.id === name)) { chosen.value = name; pick(); }
    });
  }
})();
