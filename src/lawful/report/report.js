document.querySelector("header").after(document.getElementById("totals"));
for (const button of document.querySelectorAll("button")) {
  button.hidden = false;
  button.onclick = () => {
    for (const card of document.querySelectorAll(".card")) card.open = Boolean(button.value);
  };
}
