"use strict";
// The heatmap of thousands of squares: found, sorted, walked through and followed. Whatever is shown was in the page before.
(() => {
  const grid = document.getElementById("grid");
  if (!grid) return;
  const filters = document.getElementById("grid-filters");
  const here = document.getElementById("grid-here");
  const [head, body] = [grid.tHead.rows[0], grid.tBodies[0]];
  const words = new Map([...filters.querySelectorAll("select[name=verdict] option[value]")].map((option) => [option.value, option.textContent.replace(/ \([\d,]+\)$/, "")]));
  const outcome = (cell) => [...cell.classList].find((name) => words.has(name)) || "";
  const columns = [...head.cells].slice(1).map((header, number) => ({ header, number, name: header.textContent, found: 0, shown: true }));
  const rows = [...body.rows].map((row, number) => {
    const [header, ...cells] = row.cells;
    const squares = cells.map((cell) => ({ cell, outcome: outcome(cell) }));
    let found = 0;
    squares.forEach((square, place) => {
      if (square.outcome === "contaminated") { found += 1; columns[place].found += 1; }
    });
    return { row, number, header, squares, name: header.textContent.trim(), found, shown: true, link: header.querySelector("a") };
  });
  const total = rows.reduce((sum, row) => sum + row.squares.filter((square) => square.outcome).length, 0);
  let order = columns.map((column) => column.number);
  let current = null;

  const value = (name) => filters.querySelector(`[name=${name}]`).value;
  const by = {
    run: (a, b) => a.number - b.number,
    name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }) || a.number - b.number,
    found: (a, b) => b.found - a.found || a.number - b.number,
  };

  const sort = () => {
    const sorted = [...columns].sort(by[value("tables-by")]).map((column) => column.number);
    if (sorted.some((number, place) => number !== order[place])) {
      order = sorted;
      head.append(...order.map((number) => columns[number].header));
      for (const row of rows) row.row.append(...order.map((number) => row.squares[number].cell));
    }
    body.append(...[...rows].sort(by[value("llms-by")]).map((row) => row.row));
  };

  const filter = () => {
    const [llm, table, verdict] = ["llm", "table", "verdict"].map((name) => value(name).trim().toLowerCase());
    let shown = 0;
    for (const column of columns) {
      const keep = column.name.toLowerCase().includes(table);
      if (keep !== column.shown) {
        column.shown = keep;
        column.header.hidden = !keep;
        for (const row of rows) row.squares[column.number].cell.hidden = !keep;
      }
    }
    for (const row of rows) {
      row.shown = `${row.name} ${row.header.title}`.toLowerCase().includes(llm);
      row.row.hidden = !row.shown;
      row.squares.forEach((square, place) => {
        const fits = !verdict || square.outcome === verdict;
        square.cell.classList.toggle("dim", !fits);
        if (row.shown && columns[place].shown && square.outcome && fits) shown += 1;
      });
    }
    filters.querySelector("output").textContent = `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} squares shown`;
    if (!current || !visible(current)) stop(first());
  };

  const rowOf = (cell) => rows.find((row) => row.row === cell.parentElement);
  const columnOf = (cell) => columns[rowOf(cell).squares.findIndex((square) => square.cell === cell)];
  const visible = (cell) => cell.textContent && !cell.hidden && !cell.classList.contains("dim") && !cell.parentElement.hidden;
  const first = () => [...body.rows].flatMap((row) => (row.hidden ? [] : [...row.cells].slice(1))).find(visible) || null;
  const stop = (cell) => {
    if (current) current.tabIndex = -1;
    current = cell;
    if (current) current.tabIndex = 0;
  };
  const said = (cell) => {
    const name = words.get(outcome(cell));
    return `${rowOf(cell).name}, ${columnOf(cell).name}: ${name}${cell.classList.contains("unsure") ? ", the gate reaches no conclusion" : ""}`;
  };
  const follow = (cell) => {
    const address = new URL(rowOf(cell).link.href);
    address.searchParams.set("dataset", columnOf(cell).name);
    location.href = address.href;
  };
  const square = (event) => {
    const cell = event.target.closest?.("td");
    return cell && cell.textContent ? cell : null;
  };

  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  grid.addEventListener("keydown", (event) => {
    const cell = square(event);
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") { event.preventDefault(); follow(cell); return; }
    if (!ARROWS[event.key]) return;
    event.preventDefault();
    const [down, right] = ARROWS[event.key];
    const lines = [...body.rows];
    let [line, place] = [lines.indexOf(cell.parentElement) + down, cell.cellIndex + right];
    for (; lines[line]?.cells[place] && place > 0; line += down, place += right) {
      const next = lines[line].cells[place];
      if (visible(next)) { stop(next); next.focus(); return; }
    }
  });
  grid.addEventListener("focusin", (event) => {
    const cell = square(event);
    if (!cell) return;
    cell.setAttribute("aria-label", said(cell));
    here.textContent = said(cell);
  });
  grid.addEventListener("pointerover", (event) => {
    const cell = square(event);
    if (!cell) return;
    cell.title ||= said(cell);
    here.textContent = said(cell);
  });
  grid.addEventListener("click", (event) => { const cell = square(event); if (cell) follow(cell); });

  const apply = () => { sort(); filter(); };
  let waiting = 0;
  filters.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 60); });
  filters.querySelector("button").addEventListener("click", () => {
    for (const input of filters.querySelectorAll("input")) input.value = "";
    for (const select of filters.querySelectorAll("select")) select.selectedIndex = 0;
    apply();
  });
  grid.setAttribute("role", "grid");
  for (const row of rows) for (const { cell } of row.squares) if (cell.textContent) cell.tabIndex = -1;
  filters.hidden = false;
  filter();
})();
