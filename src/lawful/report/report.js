"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const totals = document.getElementById("totals");
const cards = all(".card");
document.documentElement.classList.add("js");
document.querySelector("header").after(totals);

// The body of a card is text in <noscript> until the card is open and near the window.
const fill = (card) => {
  for (const body of all("noscript", card)) body.outerHTML = body.textContent;
};
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) fill(target);
  },
  { rootMargin: "1500px" },
);
const watch = (card) => (card.open ? near.observe(card) : near.unobserve(card));
document.addEventListener("toggle", ({ target }) => target.matches(".card") && watch(target), true);
addEventListener("beforeprint", () => all(".card[open]").forEach(fill));

const set = (some, open) => some.forEach((card) => (card.open = open));
set(cards.length > 3 ? all(".card.person").slice(0, 10) : cards, true);
for (const button of all("[name=cards]", totals)) {
  button.onclick = () => set(cards, button.value === "open");
}

// Search: a card is shown if its text has the query.
const entities = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };
const text_of = (card) =>
  card.innerHTML
    .replace(/<[^>]*>/g, " ")
    .replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole)
    .replace(/\s+/g, " ")
    .toLowerCase();
const texts = new Map();
const query = totals.querySelector("[type=search]");
query.oninput = () => {
  const wanted = query.value.trim().replace(/\s+/g, " ").toLowerCase();
  for (const card of cards) {
    if (wanted && !texts.has(card)) texts.set(card, text_of(card));
    card.hidden = wanted !== "" && !texts.get(card).includes(wanted);
  }
};
const form = totals.querySelector("form");
form.onsubmit = (event) => event.preventDefault();
form.onchange = () => (document.body.dataset.show = form.show.value);
form.onchange();

// Zoom: a page in a window of its own, by buttons and keys.
const viewer = document.getElementById("viewer");
const sheet = viewer.querySelector(".sheet");
let size = 1;
const zoom = (factor) => {
  const middle = (sheet.scrollTop + sheet.clientHeight / 2) / sheet.scrollHeight;
  size = factor ? Math.min(8, Math.max(0.25, size * factor)) : 1;
  sheet.firstElementChild.style.width = `${100 * size}%`;
  sheet.scrollTop = middle * sheet.scrollHeight - sheet.clientHeight / 2;
  viewer.querySelector("output").textContent = `${Math.round(100 * size)} %`;
};
const show = (page) => {
  sheet.replaceChildren(page.cloneNode(true));
  viewer.showModal();
  zoom(0);
  sheet.scrollTop = 0;
  sheet.focus();
};
const steps = { "+": 1.25, "=": 1.25, "-": 0.8, 0: 0 };
viewer.onclick = ({ target }) => target.value in steps && zoom(steps[target.value]);
viewer.onkeydown = (event) => {
  if (event.ctrlKey || event.metaKey || !(event.key in steps)) return;
  zoom(steps[event.key]);
  event.preventDefault();
};
document.querySelector("main").addEventListener("click", ({ target }) => {
  const page = target.closest("figure");
  if (page && (target.closest("button") || target.closest("svg"))) show(page.querySelector("svg"));
});
