// Putting a value right: what is typed, and what that can mean.

import type { Range } from "./api";
import { choices, correctText, labelWords, propose } from "./actions";
import { goTo } from "./navigation";
import { overlap, textAt } from "./pins";
import { computed } from "./signals";
import { choice, current, doc, draft, editing, live, selected, stopId, stops, wordText } from "./state";
import { t, visible } from "./text";

const LONGEST = 8; // words of a value
const MOST = 6; // places that are shown

/** Something that Enter can do: with the words that it is about, to be compared with the print. */
export interface Way {
  words: Range | null;
  says: string;
  run: () => void;
}

/** Opens the line of the current field, or of the selected words if they are of none. */
export function startEditing(): void {
  const [now, words, field] = [doc.value, selected.value, current.value];
  if (!now) return;
  const stop = field && stops.value.find((each) => each.field === field.field && each.index === field.index);
  const has = stop && document.activeElement?.id === stopId(stop);
  const own = stop && (stop.value ? words && overlap(stop.value.words, words) : has || !words);
  if (!own && !words) {
    live.value = t("Select words first: click them, or move with the arrow keys.");
    return;
  }
  const about = own && !stop.value ? null : words;
  draft.value = about ? textAt(now, about) : "";
  choice.value = -1;
  editing.value = { words: about, field: own ? stop.field : null, index: own ? stop.index : 0 };
  live.value = t("Type what it says on the page. Down and up choose, Enter takes, Escape leaves it.");
}

/** Back to the field, which has the focus again. */
export function stopEditing(): void {
  const was = editing.value;
  if (!was) return;
  editing.value = null;
  const stop = stops.value.find((each) => each.field === was.field && each.index === was.index);
  if (stop) goTo(stop);
  else document.querySelector<HTMLElement>(".pages")?.focus({ preventScroll: true });
}

/** What can be meant by what is typed: that the words read so, or that the value is elsewhere. */
export const ways = computed<Way[]>(() => {
  const [now, at] = [doc.value, editing.value];
  if (!now || !at) return [];
  const text = draft.value.trim();
  const { words, field } = at;
  const before = words ? textAt(now, words) : "";
  const found: Way[] = [];
  if (words && text && text !== before) {
    found.push({ words, says: t("It says “{0}” here", visible(text, 60)), run: () => correctText(words, text) });
  }
  if (field && text) {
    for (const place of places(text)) {
      if (words && overlap(place, words)) continue;
      const says = t("{0} is “{1}” here", field, visible(textAt(now, place), 60));
      found.push({ words: place, says, run: () => labelWords(place, field) });
    }
  }
  if (field && text === before) {
    for (const { pins, shown, words: place } of choices(field)) {
      const says = t("{0} is {1}", field, visible(shown, 60));
      found.push({ words: place, says, run: () => void propose(field, shown, pins) });
    }
  }
  // A text that is much like the one before was misread; another one is printed elsewhere.
  const here = found[0]?.words === words && words !== null;
  return here && found.length > 1 && !isAlike(text, before) ? [...found.slice(1), ...found.slice(0, 1)] : found;
});

/** Does what is chosen; with nothing chosen, nothing. */
export function takeWay(at = choice.value): void {
  const text = draft.value.trim();
  const way = ways.value[at];
  const [now, was] = [doc.value, editing.value];
  const isSame = now && was?.words && text === textAt(now, was.words);
  if (!way && text && !isSame) {
    live.value = t("“{0}” was not found on the page: select the words that say it.", visible(text, 60));
    return;
  }
  stopEditing();
  way?.run();
}

const plain = (text: string) => text.toLowerCase().replace(/\s+/g, "");

/** The digits of an amount or a date, if it is little else. */
const digits = (text: string): string | null =>
  /\d/.test(text) && text.replace(/[\d\s.,:/'+-]/g, "").length <= 3 ? text.replace(/\D/g, "") : null;

/** Where a text is printed, whatever its spaces and the punctuation of numbers. */
function places(text: string): Range[] {
  const total = doc.value?.words.length ?? 0;
  const [wanted, number] = [plain(text), digits(text)];
  const found: Range[] = [];
  for (let start = 0; start < total; start++) {
    let joined = "";
    for (let end = start + 1; end <= Math.min(start + LONGEST, total); end++) {
      joined += wordText(end - 1);
      if (plain(joined).length > wanted.length + 6) break;
      if (plain(joined) === wanted || (number !== null && number === digits(joined))) {
        found.push([start, end]);
        break;
      }
    }
  }
  const inner = found.filter((each) => !found.some((other) => other !== each && other[0] >= each[0] && other[1] <= each[1]));
  return inner.slice(0, MOST);
}

/** Whether a text may be a misread other one: few letters differ. */
function isAlike(a: string, b: string): boolean {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const kept = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(kept, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return (row[b.length] ?? 0) <= Math.max(1, Math.min(a.length, b.length) / 3);
}
