// On the list of stories: sends what an earlier grid could not, and marks answers that were not seen in this browser yet.
import { Queue } from "./queue.js";

const place = document.getElementById("leftovers");
const nothing = () => {};
const queue = new Queue({
  annotator: Number(place.dataset.annotator),
  story: "",
  url: "",
  now: new Date().toISOString(),
  on: { queued: nothing, saved: nothing, refused, warnings: nothing, trouble: nothing, state: tell },
});

let waiting = 0;
let refusal = "";
function refused(change, sentence) {
  refusal = gettext("A vote was refused: {sentence}", { sentence });
}
function tell() {
  const count = queue.everything().length;
  if (count) place.textContent = ngettext("{count} vote of yours could not be saved earlier. They are kept in this browser and sent by themselves.", "{count} votes of yours could not be saved earlier. They are kept in this browser and sent by themselves.", count);
  else if (waiting) place.textContent = gettext("All your votes are saved now.");
  waiting = count || waiting;
  if (refusal) place.textContent = gettext("{first} {second}", { first: place.textContent, second: refusal }).trim();
  place.hidden = !waiting;
}
if (queue.everything().length) queue.flush();
addEventListener("online", () => queue.flush());

const news = document.getElementById("news");
if (news) {
  const seen = new Set(JSON.parse(localStorage.getItem(news.dataset.seen) ?? "[]"));
  for (const row of news.querySelectorAll("[data-news]")) {
    row.querySelector(".badge-new").hidden = seen.has(row.dataset.news);
    row.querySelector("a").addEventListener("click", () => {
      localStorage.setItem(news.dataset.seen, JSON.stringify([...seen.add(row.dataset.news)].slice(-200)));
    });
  }
}
