"use strict";
// The page on which a person judges: counts, keys, and the file of the judgements. Nothing is read as markup.
(() => {
  const { form, by } = document.body.dataset;
  const articles = [...document.querySelectorAll("article.judged")];
  const progress = document.getElementById("progress");
  const kept = `${form} ${by} ${articles.map((article) => article.dataset.pair).join(" ")}`;
  const chosen = (article) => article.querySelector("input:checked")?.value;

  const words = () => Object.fromEntries(articles.flatMap((article) => {
    const word = chosen(article);
    return word ? [[article.dataset.pair, word]] : [];
  }));

  const count = () => {
    for (const article of articles) article.classList.toggle("done", Boolean(chosen(article)));
    progress.textContent = `${Object.keys(words()).length} of ${articles.length} judged`;
  };

  const keep = () => {
    try { localStorage.setItem(kept, JSON.stringify(words())); } catch { /* the file is what counts */ }
    count();
  };

  try {
    const held = JSON.parse(localStorage.getItem(kept) || "{}");
    for (const article of articles) {
      for (const input of article.querySelectorAll("input")) {
        if (held[article.dataset.pair] === input.value) input.checked = true;
      }
    }
  } catch { /* a browser that stores nothing */ }

  let at = Math.max(0, articles.findIndex((article) => !chosen(article)));
  const go = (to) => {
    at = Math.min(Math.max(to, 0), articles.length - 1);
    articles[at]?.scrollIntoView({ block: "start" });
    articles[at]?.focus({ preventScroll: true });
  };

  document.addEventListener("focusin", (event) => {
    const place = articles.indexOf(event.target.closest?.("article.judged"));
    if (place >= 0) at = place;
  });
  document.addEventListener("change", keep);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const inputs = articles[at] ? [...articles[at].querySelectorAll("input")] : [];
    const input = inputs[Number(event.key) - 1];
    if (input) {
      input.checked = true;
      keep();
      go(at + 1);
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      go(at + (event.key === "ArrowRight" ? 1 : -1));
    } else {
      return;
    }
    event.preventDefault();
  });

  document.getElementById("save").addEventListener("click", () => {
    const document_ = { form, by, words: words() };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(document_, null, 1)], { type: "application/json" }));
    link.download = "judgements.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  count();
})();
