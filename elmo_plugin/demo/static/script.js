"use strict";
// What the page does without asking the server: lights up what belongs together, copies, and checks lengths.

function light(mark, on) {
  const article = mark.closest("article");
  for (const other of article.querySelectorAll("mark")) {
    if (other.dataset.group === mark.dataset.group) other.classList.toggle("lit", on);
  }
}

for (const mark of document.querySelectorAll("mark")) {
  mark.addEventListener("mouseover", (e) => { e.stopPropagation(); light(mark, true); });
  mark.addEventListener("mouseout", (e) => { e.stopPropagation(); light(mark, false); });
}

for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.nextElementSibling.textContent);
      button.textContent = "Copied";
    } catch (error) { // no permission, or not a secure address: the text is selected instead
      window.getSelection().selectAllChildren(button.nextElementSibling);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

const form = document.querySelector("form"); // there is none at an unknown address
const error = document.getElementById("error");
const show = form?.querySelector("button[type=submit]");
const count = (number) => Number(number).toLocaleString("en");
const result = location.search ? document.getElementById("answer") ?? (error?.hidden ? null : error) : null;

result?.focus({ preventScroll: true }); // the next Tab goes on from here
if (result?.getBoundingClientRect().top > 0.6 * window.innerHeight) result.scrollIntoView({ block: "nearest" });

form?.addEventListener("submit", (event) => {
  const { maxCharacters } = form.dataset;
  for (const box of form.querySelectorAll("input, textarea")) {
    const characters = [...box.value].length;
    if (characters > Number(maxCharacters)) {
      event.preventDefault();
      error.textContent = `The ${box.name} has ${count(characters)} characters; at most ${count(maxCharacters)} are read here.`;
      error.hidden = false;
      error.focus();
      return;
    }
  }
  show.disabled = true;
  show.textContent = "Computing …";
});
form?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
function ready() {
  if (!show) return;
  show.disabled = false;
  show.textContent = "Show";
}
window.addEventListener("pageshow", ready); // also after "back"
if (document.getElementById("loading") && !location.search) { // asks for the example's answer, unless one types
  form.requestSubmit();
  form.addEventListener("input", () => { window.stop(); ready(); }, { once: true });
}
