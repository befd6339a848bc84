"use strict";
// Filters, and light or dark. Without this script everything is shown.
(() => {
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const sections = [...document.querySelectorAll("[data-section]")].map((section) => ({
    section,
    count: section.querySelector("[data-count]"),
    items: [...section.querySelectorAll("[data-item]")].map((item) => ({
      item,
      kinds: item.dataset.kinds.split(" "),
      severity: Number(item.dataset.severity),
      certain: item.dataset.certain === "yes",
      sought: item.dataset.sought,
    })),
  }));
  const all = sections.reduce((sum, one) => sum + one.items.length, 0);
  const number = (n) => n.toLocaleString("en");

  const apply = () => {
    const kinds = [...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value);
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const least = Number(form.elements.severity.value);
    const certain = form.elements.certain.checked;
    let shown = 0;
    for (const one of sections) {
      let here = 0;
      for (const { item, ...facts } of one.items) {
        const wanted =
          facts.severity >= least &&
          (facts.certain || !certain) &&
          (!kinds.length || kinds.some((kind) => facts.kinds.includes(kind))) &&
          words.every((word) => facts.sought.includes(word));
        if (item.hidden === wanted) item.hidden = !wanted;
        here += wanted;
      }
      one.section.hidden = !here;
      const whole = one.items.length;
      one.count.textContent = here === whole ? number(whole) : `${number(here)} of ${number(whole)}`;
      shown += here;
    }
    count.textContent = shown === all ? `All ${number(all)} are shown.` : `${number(shown)} of ${number(all)} are shown.`;
  };

  let waiting;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = !all;
  apply();

  const theme = document.getElementById("theme");
  const themes = ["automatic", "light", "dark"];
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "automatic") + 1) % themes.length];
    document.documentElement.dataset.theme = next;
    theme.querySelector("span").textContent = next;
  });
  theme.hidden = false;
})();
