// On the queue of tables: sends rows that an editor of this browser could not.
import { Queue } from "../grid/queue.js";
import { keepRefused } from "./refused.js";

const place = document.getElementById("leftovers");
const nothing = () => {};
const queue = new Queue({
  annotator: Number(place.dataset.annotator), story: "", url: "", now: new Date().toISOString(), kind: "rows", cellOf: (change) => change.row,
  on: { queued: nothing, saved: nothing, refused, warnings: nothing, trouble: nothing, state: tell },
});

let waiting = 0;
// What is refused stays in this browser, and the editor of that story shows it.
function refused(change, sentence) {
  if (!keepRefused(queue.annotator, change)) return;
  place.textContent = gettext("A row was refused and is kept in this browser: {sentence}", { sentence });
  place.hidden = false;
}
function tell() {
  const count = queue.everything().length;
  if (count) place.textContent = ngettext("{count} change of your tables could not be saved earlier. They are kept in this browser and sent by themselves.", "{count} changes of your tables could not be saved earlier. They are kept in this browser and sent by themselves.", count);
  else if (waiting) place.textContent = gettext("Everything that you wrote is saved now.");
  waiting = count || waiting;
  place.hidden = !waiting && place.hidden;
  if (waiting) place.hidden = false;
}
if (queue.everything().length) queue.flush();
addEventListener("online", () => queue.flush());
