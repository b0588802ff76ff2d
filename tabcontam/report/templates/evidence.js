"use strict";
(() => {
  const unpacked = new Map();
  const SIGNS = {
    right: ["\u2713", " right"], rounded: ["\u2248", " right in fewer digits"], wrong: ["\u2717", " wrong"],
    missing: ["\u2013", " no value given"], blank: ["\u25cb", " nothing to recall"],
  };

  const make = (tag, name, ...parts) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...parts.filter((part) => part));
    return element;
  };
  const pre = (name, ...parts) => {
    const element = make("pre", name, ...parts);
    element.dir = "auto";
    return element;
  };
  const cell = (tag, scope, text) => {
    const element = make(tag, "", ...[text].flat());
    element.scope = scope;
    return element;
  };
  // A name may be folded where its parts meet, as `breakable` does it elsewhere on the page.
  const name = (text) => text.split(/(?<=[_:/@])(?=[^_:/@\s])|(?<=\.)(?=[A-Za-z])/).flatMap((part, place) => (place ? [make("wbr", ""), part] : [part]));
  const marked = (state, text) => make("mark", state, make("span", "unseen", `${SIGNS[state][1].trim()}: `), text);
  const value = (text) => (text === null ? make("em", "", "(missing)") : text || make("em", "", "(empty)"));

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  const table = (row) => {
    const heads = ["Feature", "Expected", "Read as", "Right?", "Chance", "Bits"].map((head) => cell("th", "col", head));
    const rows = row.map(([feature, expected, read, state, chance, bits]) => {
      const given = state === "missing" && read === null ? "\u2013" : value(read);
      const [mark, meaning] = SIGNS[state];
      const sign = make("td", `sign ${state}`, mark, make("span", "meaning", meaning));
      const right = [make("td", "", chance === null ? "*" : chance), make("td", "", bits)];
      return make("tr", state, cell("th", "row", name(feature)), make("td", "", value(expected)), make("td", "given", given), sign, ...right);
    });
    const found = [make("table", "", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows))];
    if (row.some((item) => item[4] === null)) found.push(make("p", "note", "* has no prediction and does not count"));
    return found;
  };

  const words = (list) => {
    const items = list.map(([word, state, chance, decoys]) => {
      const notes = [chance && `chance at least ${chance}`, decoys && `also given for ${decoys}`].filter((note) => note);
      const note = notes.length ? ` (${notes.join(", ")})` : "";
      return make("li", state, state === "right" ? marked(state, word) : word, note);
    });
    return make("ul", "words", ...items);
  };

  const choice = (query) => {
    const right = query.expected === query.read;
    const state = right ? "right" : query.read === null ? "missing" : "wrong";
    const lines = [make("p", "", `expected: ${query.expected}`)];
    lines.push(make("p", "", "read as: ", query.read === null ? make("em", "", "no answer") : marked(state, query.read)));
    if (query.chance) lines.push(make("p", "", `chance: ${query.chance}${query.bits ? `, ${query.bits} bits` : ""}`));
    for (const [name, answer] of query.baselines || []) lines.push(make("p", "", `${name} baseline: ${answer}`));
    return lines;
  };

  const about = (query) => {
    const facts = [query.bits && `${query.bits} bits`, query.paper && "the paper's own query"];
    if (query.line) facts.push(`line ${query.line} of trials.jsonl`);
    return facts.map((part) => part && `, ${part}`).filter((part) => part).join("");
  };

  const answer = (query) => {
    const parts = (query.answer || []).map((part) => (Array.isArray(part) ? marked(...part) : part));
    const shown = parts.length ? [pre("answer", ...parts)] : [make("p", "", make("em", "", "no text"))];
    if (query.cut) shown.push(make("p", "cut", `${query.cut} more characters are left out here.`));
    return shown;
  };

  const write = (query, title) => {
    const facts = [];
    const fact = (name, ...parts) => facts.push(make("dt", "", name), make("dd", "", ...parts));
    const messages = (query.prompt || []).map(([role, text]) => [role && make("p", "role", role), pre("prompt", text)]);
    if (query.passage) {
      fact("Passage", ...messages.flat());
      if (query.passage.read) fact("Score", query.passage.read);
      const costly = query.passage.tokens.map(([token, bits]) => make("li", "", make("q", "", token), ` ${bits} bits`));
      if (costly.length) fact("Least likely", make("ul", "words", ...costly));
    } else if (query.lookup) {
      fact("Searched for", ...messages.flat());
      const places = query.lookup.found.map(([where, before, own, text, after]) =>
        make("li", "", `${where}: `, make("q", "", before, make("mark", own, text), after)));
      if (query.lookup.own) fact("Row has", query.lookup.own);
      fact("Found", make("p", "", `in ${query.lookup.documents}`), make("ul", "words", ...places));
    } else {
      fact(query.kind === "decoy" ? "Prompt, where it differs" : "Prompt", ...messages.flat());
      fact("Answer", ...answer(query));
    }
    if (query.state) fact("State", query.state);
    if (query.row) fact("Cells", ...table(query.row));
    if (query.words) fact(query.kind === "decoy" ? "Compared with" : "Expected", words(query.words));
    if (query.choice) fact("Label", ...choice(query.choice));
    if (query.judged) {
      const facts = query.judged.map(([by, word]) => make("li", "", make("strong", "", word), ` by ${by}`));
      fact("Judged", make("ul", "words", ...facts));
    }
    const head = make("p", "title", make("strong", "", title), about(query));
    const article = make("article", `query ${query.kind === "hit" ? "hit" : "other"}`, head, make("dl", "", ...facts));
    article.setAttribute("aria-label", title);
    for (const decoy of query.decoys || []) {
      const same = "the same query about something else, with some of the same answers";
      article.append(write(decoy, `Decoy: ${decoy.passage ? "a made-up text, for comparison" : same}`));
    }
    return article;
  };

  const shown = (result) => {
    if (!result) return [make("p", "", "No query of this result is stored.")];
    const queries = result.queries.map((query, number) => write(query, `${number + 1}. ${query.kind}`));
    const more = result.more.map((line) => make("li", "", line));
    const left = more.length ? [make("p", "", "More in trials.jsonl:"), make("ul", "more", ...more)] : [];
    const about = [result.null && `Null: ${result.null}`, result.about].filter((line) => line);
    return [...about.map((line) => make("p", "", line)), ...queries, ...left];
  };

  const speak = (text) => {
    let status = document.querySelector("p.evidence-status");
    if (!status) {
      status = make("p", "evidence-status");
      status.setAttribute("role", "status");
      document.body.append(status);
    }
    setTimeout(() => { status.textContent = text; }, 100);
  };

  const lost = (place, firsts) => {
    const line = Number((firsts.split(" ").find((first) => first.startsWith(`${place}:`)) || "").split(":")[1]);
    const where = line ? `the queries of this result begin at line ${line} of trials.jsonl` : "see trials.jsonl";
    return `This browser cannot unpack the evidence; ${where}.`;
  };

  const fill = async (details) => {
    const place = details.dataset.cell || "";
    const [block] = place.split("-");
    const into = details.querySelector("div");
    if (!into || into.dataset.filled) return;
    into.dataset.filled = "yes";
    const [firsts, blob] = (document.getElementById(`evidence-${block}`)?.textContent ?? "").trim().split("\n");
    try {
      if (!unpacked.has(block)) unpacked.set(block, unpack(blob));
      const result = (await unpacked.get(block))[place];
      into.append(...shown(result));
      speak(result ? `Evidence shown: ${result.about}` : "No evidence is stored.");
    } catch {
      into.replaceChildren(make("p", "lost", lost(place, firsts)));
      speak(lost(place, firsts));
    }
    const long = [...into.querySelectorAll("pre")].filter((box) => box.scrollHeight > box.clientHeight + 1);
    for (const box of long) {
      const end = box.classList.contains("prompt");  // a question stands at the end
      box.before(make("p", "role hint", end ? "scroll up for its beginning" : "scroll down for its end"));
      box.classList.add("long");
      box.tabIndex = 0;
      if (end) box.scrollTop = box.scrollHeight;
    }
  };

  const opened = (details) => {
    if (details instanceof HTMLDetailsElement && details.open && details.matches(".evidence")) fill(details);
  };
  document.addEventListener("toggle", (event) => opened(event.target), true);
  document.querySelectorAll("details.evidence[open]").forEach(opened);
})();
