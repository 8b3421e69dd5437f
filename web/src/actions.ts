// What a reviewer can do, by key or by button.

import { chosenReviewer, type Pin, type Range, type Verdict } from "./api";
import { make } from "./changes";
import { clock } from "./navigation";
import { choose, overlap, same, textAt, wordsOf, fieldOf } from "./pins";
import {
  current,
  dialog,
  doc,
  draft,
  kinds,
  live,
  others,
  selected,
  selection,
  session,
  zoom,
  type Dialog,
} from "./state";
import { visible } from "./text";

const quoted = (words: Range): string =>
  doc.value ? `“${visible(textAt(doc.value, words), 60)}”` : "";

function pin(says: string, add: Pin[], drop: Pin[] = []): void {
  const n = doc.value?.n;
  if (n !== undefined) make({ kind: "pins", n, says, add, drop });
}

/** The selected words, or a hint that there are none. */
function chosenWords(): Range | null {
  if (!selected.value) live.value = "Select words first: click them, or move with the arrow keys.";
  return selected.value;
}

/** Says what the selected words are; null: no field. */
export function label(field: string | null): void {
  const [words, now] = [chosenWords(), doc.value];
  if (!words || !now) return;
  const kind = field === null ? undefined : kinds.value.get(field);
  // Of a field with one value, a reviewer who says where it is says that it is nowhere else.
  const wrong = (kind && !kind.many && !kind.row && now.answer.fields[kind.name]) || [];
  const not = wrong
    .filter((value) => !overlap(value.words, words) && value.text !== textAt(now, words))
    .map((value): Pin => ({ words: value.words, not: kind?.name ?? "" }));
  pin(`${quoted(words)} is ${field ?? "no field"}`, [...not, { words, field }]);
}

/** Says what the selected words read. */
export function correctText(text: string): void {
  const words = chosenWords();
  if (words && doc.value && text !== textAt(doc.value, words)) {
    pin(`${quoted(words)} reads “${visible(text, 60)}”`, [{ words, text }]);
  }
}

/** Says that the current field is not on the page. */
export function absent(): void {
  const field = current.value?.field;
  if (field) pin(`${field} is not on the page`, [{ field, value: null }]);
}

/** Takes back what was said about the selected words and the current field. */
export function unpin(): void {
  const [words, field] = [selected.value, current.value?.field];
  const drop = (doc.value?.pins ?? []).filter((each) => {
    const about = wordsOf(each);
    if (about) return words !== null && overlap(about, words);
    return fieldOf(each) === field;
  });
  if (drop.length) pin("Unpinned", [], drop);
  else live.value = "Nothing is pinned here.";
}

export function unpinOne(each: Pin): void {
  pin("Unpinned", [], [each]);
}

// --- alternatives ------------------------------------------------------------------------------

/** The other values that a field has in the alternatives: pins that ask for each, best first. */
export function choices(field: string): { pins: Pin[]; shown: string }[] {
  const now = doc.value?.answer.fields;
  const seen = new Set<string>();
  const found: { pins: Pin[]; shown: string }[] = [];
  for (const other of others.value?.alternatives ?? []) {
    if (!now || !other.differs.includes(field)) continue;
    const values = other.fields[field] ?? [];
    const key = JSON.stringify(values.map((value) => value.words));
    if (seen.has(key)) continue;
    seen.add(key);
    const shown = values.map((value) => value.shown ?? value.text).join(", ");
    found.push({ pins: choose(now, other.fields, field), shown: shown || "not on the page" });
  }
  return found;
}

/** Enter goes through these: after the last comes the value that the field had at first. */
let round: { n: number; field: string; left: { pins: Pin[]; shown: string }[]; made: Pin[] } | null =
  null;

/** Takes the next alternative of the current field. */
export function nextChoice(): void {
  const [field, n] = [current.value?.field, doc.value?.n];
  if (!field || n === undefined) return;
  if (round?.n !== n || round.field !== field || !round.made.every(isMade)) {
    round = { n, field, left: choices(field), made: [] };
    if (!round.left.length) {
      live.value = others.value ? `${field} has no alternatives.` : "Alternatives are not known yet.";
      return;
    }
  }
  const next = round.left.shift();
  const drop = round.made;
  if (!next) {
    round = null;
    pin(`${field} is as before`, [], drop);
    return;
  }
  round.made = next.pins;
  pin(`${field} is ${visible(next.shown, 60)}`, next.pins, drop);
}

const isMade = (pin: Pin): boolean =>
  (doc.value?.pins ?? []).some((each) => JSON.stringify(each) === JSON.stringify(pin));

/** Takes an alternative as a whole: all the fields in which it differs. */
export function take(at: number): void {
  const other = others.value?.alternatives[at];
  if (other) pin(`Alternative ${at + 1} taken`, other.pins.filter((each) => !isMade(each)));
}

/** Takes over what an earlier review said, which was made for other words or rules. */
export function takeOver(): void {
  const stale = doc.value?.stale;
  if (stale) pin("The earlier pins are taken over", stale.pins);
}

// --- the document ------------------------------------------------------------------------------

export function undoOrRedo(step: "undo" | "redo"): void {
  const now = doc.value;
  if (!now) return;
  make({ kind: "step", n: now.n, step, says: step === "undo" ? "Undone" : "Done again" });
}

/** Accepts, rejects or skips the document, or opens it again, and goes to the next one. */
export function decide(verdict: Verdict | null, confirmed = false): void {
  const now = doc.value;
  if (!now) return;
  const says = verdict ? `this document is ${verdict}` : "this document is open";
  const seconds = clock.seconds();
  make({ kind: "verdict", n: now.n, verdict, note: now.note, seconds, confirmed, says, stay: false });
}

/** Keeps a note, with the verdict as it is. */
export function keepNote(note: string): void {
  const now = doc.value;
  if (!now || note === now.note) return;
  const { n, verdict } = now;
  const says = "this document has a note";
  make({ kind: "verdict", n, verdict, note, seconds: clock.seconds(), confirmed: true, says, stay: true });
}

export function openDialog(which: Dialog): void {
  const now = doc.value;
  const words = which === "text" || which === "label" ? chosenWords() : null;
  if ((which === "text" || which === "label") && !words) return;
  draft.value = "";
  if (which === "text" && now && words) draft.value = textAt(now, words);
  if (which === "note") draft.value = now?.note ?? "";
  if (which === "reviewer") draft.value = chosenReviewer() ?? session.value?.reviewer ?? "";
  dialog.value = which;
}

/** Makes the page larger or smaller. */
export function scale(by: number): void {
  const next = Math.min(Math.max(zoom.value * by, 0.4), 4);
  zoom.value = Math.abs(next - 1) < 0.05 ? 1 : next;
}

// --- words by keyboard -------------------------------------------------------------------------

/** Moves the selection by words in reading order; `extend` keeps its other end. */
export function moveSelection(by: number, extend: boolean): void {
  const last = (doc.value?.words.length ?? 0) - 1;
  if (last < 0) return;
  const from = selection.value?.head ?? (by > 0 ? -1 : last + 1);
  const head = Math.min(Math.max(from + by, 0), last);
  selectWords(extend && selection.value ? selection.value.anchor : head, head);
}

/** Moves the selection to the nearest word on the line above or below. */
export function moveLine(by: 1 | -1, extend: boolean): void {
  const [boxes, from] = [doc.value?.boxes, selection.value?.head];
  const start = from === undefined ? undefined : boxes?.[from];
  if (!boxes || !start || from === undefined) {
    moveSelection(by, extend);
    return;
  }
  const pages = doc.value?.pages;
  const middle = (start[0] + start[2]) / 2;
  let best = from;
  let least = Infinity;
  boxes.forEach((box, word) => {
    if (pages && pages[word] !== pages[from]) return;
    const down = ((box[1] + box[3]) / 2 - (start[1] + start[3]) / 2) * by;
    if (down < (start[3] - start[1]) / 2) return;
    const distance = down * 4 + Math.abs((box[0] + box[2]) / 2 - middle);
    if (distance < least) [best, least] = [word, distance];
  });
  if (best === from) moveSelection(by, extend);
  else selectWords(extend && selection.value ? selection.value.anchor : best, best);
}

export function selectWords(anchor: number, head: number): void {
  selection.value = { anchor, head };
  const words = selected.value;
  if (!words) return;
  const exact = doc.value && Object.entries(doc.value.answer.fields).find(([, values]) =>
    values.some((value) => same(value.words, words)),
  );
  live.value = `${quoted(words)}${exact ? `, ${exact[0]}` : ""}`;
}
