// Every mention of an actor in the story, marked with the CSS custom highlight API: the story's text never becomes markup.
import { isWorld, JOINT } from "./actor_names.js";

const LETTER = "[\\p{L}\\p{N}]";
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function find(node, name) {
  const plain = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const whole = WITHOUT_SPACES.test(name) ? plain : `(?<!${LETTER})${plain}(?!${LETTER})`;
  return [...node.data.matchAll(new RegExp(whole, "giu"))].map((match) => {
    const range = new Range();
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    return range;
  });
}

// "Old Mr. Varga" is sought whole, then by ever fewer of its first words. The world is nobody.
function findActor(node, actor) {
  const words = actor.trim().split(/\s+/);
  if (!actor.trim() || isWorld(actor)) return [];
  for (let from = 0; from < words.length; from += 1) {
    const name = words.slice(from).join(" ");
    const ranges = from === 0 || /^\p{Lu}/u.test(name) ? find(node, name) : [];
    if (ranges.length) return ranges;
  }
  return [];
}

// Of a group each member is marked.
export function mark(node, actor) {
  if (!window.CSS?.highlights || !node) return;
  const ranges = actor.split(new RegExp(`\\s*${JOINT}\\s*`, "i")).flatMap((member) => findActor(node, member));
  CSS.highlights.set("actor", new Highlight(...ranges));
}
