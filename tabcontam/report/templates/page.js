"use strict";
// The heatmap's filters, sorting and arrow keys, stored in the address, and the opening of the part that it names.
// Whatever is shown was in the page before: nothing is read as markup.
(() => {
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  const named = (id) => document.getElementById(id);
  const filters = named("filters");
  const FILTERS = ["llm", "dataset", "test", "kind", "verdict"];

  const reveal = () => {
    let target = null;
    try { target = named(decodeURIComponent(location.hash.slice(1))); } catch { /* no name of ours */ }
    if (target?.classList.contains("off")) target = named("map"); // the filter hides it
    if (!target) return;
    for (let around = target; around; around = around.parentElement) {
      if (around.tagName === "DETAILS") around.open = true;
      around.hidden = false;
    }
    const evidence = target.matches(".entry") && target.querySelector("details.evidence");
    if (evidence) evidence.open = true; // one click leads from a square to what was asked and answered
    if (!target.matches("a, button, [tabindex]")) target.tabIndex = -1;
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  };
  addEventListener("hashchange", reveal);
  addEventListener("load", reveal); // after the browser has gone to the fragment by itself
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.hash === location.hash) reveal();
  });

  const container = named("heatmaps");
  if (!container || !filters) return;

  const boxes = Object.fromEntries(FILTERS.map((name) => [name, every(`input[name=${name}]`, filters)]));
  const selects = every("select", filters);
  const number = (element, name) => Number(element.dataset[name]);

  const blocks = every(".block", container).map((element) => {
    const columns = every("th.dataset", element).map((header) => ({ header, dataset: number(header, "dataset"), cells: [] }));
    const rows = every("tr[data-test]", element).map((row) => {
      [...row.cells].slice(1).forEach((cell, index) => columns[index].cells.push(cell));
      return { row, test: number(row, "test"), kind: number(row.parentElement, "kind") };
    });
    const llm = number(element, "llm");
    const squares = rows.flatMap(({ test, kind }, index) => columns.flatMap((column) => {
      const link = column.cells[index].querySelector("a");
      const verdict = link && boxes.verdict.findIndex((box) => link.classList.contains(box.value));
      return link ? [{ link, column, llm, dataset: column.dataset, test, kind, verdict }] : [];
    }));
    return { element, llm, columns, rows, squares, joined: element.classList.contains("joined") };
  });
  const squares = blocks.flatMap((block) => block.squares);
  const details = every("details.column").map((element) => ({ element, llm: number(element, "llm"), dataset: number(element, "dataset") }));

  const chosen = (name) => {
    const ticked = boxes[name].filter((box) => box.checked).map((box) => number(box, "number"));
    return ticked.length ? new Set(ticked) : null;
  };

  const filter = () => {
    const wanted = FILTERS.map((name) => [name, chosen(name)]).filter(([, numbers]) => numbers);
    const fits = (of, names = FILTERS) => wanted.every(([name, numbers]) => !names.includes(name) || numbers.has(of[name]));
    const used = new Set();
    let shown = 0;
    for (const square of squares) {
      const on = fits(square);
      square.link.classList.toggle("off", !on);
      for (const mark of square.link.parentElement.querySelectorAll(".mark")) mark.classList.toggle("off", !on);
      if (on) { shown += 1; used.add(square.column).add(square.llm + "/").add("test" + square.test).add("kind" + square.kind); }
    }
    for (const block of blocks) {
      block.element.hidden = !used.has(block.llm + "/");
      for (const column of block.columns) {
        const hidden = !used.has(column);
        if (column.header.hidden !== hidden) for (const cell of [column.header, ...column.cells]) cell.hidden = hidden;
      }
      for (const { row, test, kind } of block.rows) {
        row.hidden = !used.has("test" + test);
        row.parentElement.hidden = !used.has("kind" + kind);
      }
    }
    for (const of of details) of.element.hidden = !fits(of, ["llm", "dataset"]);
    for (const name of FILTERS) {
      const ticked = boxes[name].filter((box) => box.checked);
      const label = boxes[name][0]?.closest("details").querySelector(".chosen");
      if (label) label.textContent = ticked.length ? ticked.map((box) => box.parentElement.textContent.trim()).join(", ") : `all ${boxes[name].length}`;
    }
    named("shown").textContent = `${shown.toLocaleString("en")} of ${squares.length.toLocaleString("en")} results shown`;
    rove();
  };

  const order = (name, by) => {
    const places = boxes[name].map((box) => ({ number: number(box, "number"), label: box.parentElement.textContent.trim(), found: number(box, "found") }));
    const orders = {
      run: (a, b) => a.number - b.number,
      name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }) || a.number - b.number,
      found: (a, b) => b.found - a.found || a.number - b.number,
    };
    places.sort(orders[by] ?? orders.run);
    return new Map(places.map((place, index) => [place.number, index]));
  };

  let sorted = "";
  const sort = () => {
    const by = Object.fromEntries(selects.map((select) => [select.name, select.value]));
    if (sorted === JSON.stringify(by)) return;
    sorted = JSON.stringify(by);
    if (by["llms-by"]) {
      const places = order("llm", by["llms-by"]);
      blocks.sort((a, b) => b.joined - a.joined || places.get(a.llm) - places.get(b.llm));
      container.append(...blocks.map((block) => block.element));
    }
    if (by["datasets-by"]) {
      const places = order("dataset", by["datasets-by"]);
      for (const block of blocks) {
        block.columns.sort((a, b) => places.get(a.dataset) - places.get(b.dataset));
        block.columns[0]?.header.parentElement.append(...block.columns.map((column) => column.header));
        block.rows.forEach(({ row }, index) => row.append(...block.columns.map((column) => column.cells[index])));
      }
    }
  };

  const keep = () => {
    const kept = new URLSearchParams();
    for (const name of FILTERS) for (const box of boxes[name]) if (box.checked) kept.append(name, box.value);
    for (const select of selects) if (select.value !== "run") kept.set(select.name, select.value);
    const query = kept.toString();
    try {
      history.replaceState(history.state, "", `${location.pathname}${query && "?"}${query}${location.hash}`);
    } catch { /* refused for a page from disk: the choice is kept until the page is left */ }
  };

  const recall = () => {
    const kept = new URLSearchParams(location.search);
    for (const name of FILTERS) for (const box of boxes[name]) box.checked = kept.getAll(name).includes(box.value);
    for (const select of selects) {
      const value = kept.get(select.name);
      select.value = [...select.options].some((option) => option.value === value) ? value : "run";
    }
  };

  // One stop of the tab key a block; the arrow keys go on from there.
  const stop = (block, link) => {
    if (block.stop) block.stop.tabIndex = -1;
    block.stop = link;
    if (link) link.tabIndex = 0;
  };
  const visible = (link) => link && !link.classList.contains("off") && !link.closest("[hidden]");
  const rove = () => {
    for (const block of blocks) if (!visible(block.stop)) stop(block, block.squares.map(({ link }) => link).find(visible));
  };
  const linkAt = (block, row, column) => block.rows[row]?.row.cells[column]?.querySelector("a");
  const search = (block, row, column, down, right) => {
    for (; block.rows[row]?.row.cells[column]; row += down, column += right) {
      const link = linkAt(block, row, column);
      if (visible(link)) return link;
    }
    return null;
  };
  const step = (block, link, down, right) => {
    const cell = link.closest("td, th");
    const row = block.rows.findIndex((one) => one.row === cell.parentElement);
    const found = search(block, row + down, cell.cellIndex + right, down, right);
    if (found || !right) return [block, found];
    for (let at = blocks.indexOf(block) + right; blocks[at]; at += right) {
      const start = right > 0 ? 1 : blocks[at].columns.length;
      const neighbour = !blocks[at].element.hidden && search(blocks[at], row, start, 0, right);
      if (neighbour) return [blocks[at], neighbour];
    }
    return [block, null];
  };
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  container.addEventListener("keydown", (event) => {
    const link = event.target.closest("a");
    const from = blocks.find((block) => block.element.contains(link));
    if (!link || !from || !ARROWS[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [block, next] = step(from, link, ...ARROWS[event.key]);
    if (next) { stop(block, next); next.focus(); }
  });
  container.addEventListener("pointerover", (event) => {
    const link = event.target.closest("a.cell");
    if (link && !link.title) link.title = named(link.hash.slice(1))?.querySelector("p").textContent.replace(/\s+/g, " ").trim() ?? "";
  });

  const apply = () => { sort(); filter(); };
  filters.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && event.target.closest("details[open]");
    if (open) { open.open = false; open.querySelector("summary").focus(); }
  });
  filters.addEventListener("change", () => { apply(); keep(); });
  named("reset").addEventListener("click", () => {
    every("input", filters).forEach((box) => { box.checked = false; });
    selects.forEach((select) => { select.value = "run"; });
    apply();
    keep();
  });
  addEventListener("popstate", () => { recall(); apply(); });

  every("a", container).forEach((link) => { link.tabIndex = -1; });
  filters.hidden = false;
  recall();
  apply();
})();
