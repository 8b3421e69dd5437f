// What a reviewer can do, by key or by button.

import { chosenReviewer, postMany, postPreview, Refused, type Pin, type Range, type Verdict } from "./api";
import { make } from "./changes";
import { clock, loadQueue, open } from "./navigation";
import { add, choose, overlap, same, textAt, wordsOf, fieldOf } from "./pins";
import {
  current,
  dialog,
  doc,
  draft,
  kinds,
  live,
  notice,
  others,
  proposal,
  queue,
  selected,
  selection,
  session,
  zoom,
  type Dialog,
} from "./state";
import { count, listed, t, visible } from "./text";

const quoted = (words: Range): string =>
  doc.value ? `“${visible(textAt(doc.value, words), 60)}”` : "";

function pin(says: string, add: Pin[], drop: Pin[] = []): void {
  const n = doc.value?.n;
  if (n !== undefined) make({ kind: "pins", n, says, add, drop });
}

/** The selected words, or a hint that there are none. */
function chosenWords(): Range | null {
  if (!selected.value) live.value = t("Select words first: click them, or move with the arrow keys.");
  return selected.value;
}

/** Says what the selected words are; null: no field. */
export function label(field: string | null): void {
  const words = chosenWords();
  if (words) labelWords(words, field);
}

/** Says what words are; null: no field. */
export function labelWords(words: Range, field: string | null): void {
  const now = doc.value;
  if (!now) return;
  const kind = field === null ? undefined : kinds.value.get(field);
  // Of a field with one value, a reviewer who says where it is says that it is nowhere else.
  const wrong = (kind && !kind.many && !kind.row && now.answer.fields[kind.name]) || [];
  const not = wrong
    .filter((value) => !overlap(value.words, words) && value.text !== textAt(now, words))
    .map((value): Pin => ({ words: value.words, not: kind?.name ?? "" }));
  pin(field ? t("{0} is {1}", quoted(words), field) : t("{0} is no field", quoted(words)), [...not, { words, field }]);
}

/** Says what words read. */
export function correctText(words: Range, text: string): void {
  if (doc.value && text !== textAt(doc.value, words)) {
    pin(t("{0} reads “{1}”", quoted(words), visible(text, 60)), [{ words, text }]);
  }
}

/** Says that the current field is not on the page. */
export function absent(): void {
  const field = current.value?.field;
  if (field) pin(t("{0} is not on the page", field), [{ field, value: null }]);
}

/** Takes back what was said about the selected words and the current field. */
export function unpin(): void {
  const [words, field] = [selected.value, current.value?.field];
  const drop = (doc.value?.pins ?? []).filter((each) => {
    const about = wordsOf(each);
    if (about) return words !== null && overlap(about, words);
    return fieldOf(each) === field;
  });
  if (drop.length) pin(t("Unpinned"), [], drop);
  else live.value = t("Nothing is pinned here.");
}

export function unpinOne(each: Pin): void {
  pin(t("Unpinned"), [], [each]);
}

// --- alternatives ------------------------------------------------------------------------------

/** Another value of a field: how to ask for it, and where it is. */
export interface Choice {
  pins: Pin[];
  shown: string;
  words: Range | null;
}

/** The other values that a field has in the alternatives: pins that ask for each, best first. */
export function choices(field: string): Choice[] {
  const now = doc.value?.answer.fields;
  const seen = new Set<string>();
  const found: Choice[] = [];
  for (const other of others.value?.alternatives ?? []) {
    if (!now || !other.differs.includes(field)) continue;
    const values = other.fields[field] ?? [];
    const key = JSON.stringify(values.map((value) => value.words));
    if (seen.has(key)) continue;
    seen.add(key);
    const shown = values.map((value) => value.shown ?? value.text).join(", ");
    const words = values[0]?.words ?? null;
    found.push({ pins: choose(now, other.fields, field), shown: shown || t("not on the page"), words });
  }
  return found;
}

/** Enter goes through these: after the last comes the value that the field had at first. */
let round: { n: number; field: string; left: Choice[]; made: Pin[] } | null =
  null;

/** Takes the next alternative of the current field. */
export function nextChoice(): void {
  const [field, n] = [current.value?.field, doc.value?.n];
  if (!field || n === undefined) return;
  if (round?.n !== n || round.field !== field || !round.made.every(isMade)) {
    round = { n, field, left: choices(field), made: [] };
    if (!round.left.length) {
      live.value = others.value ? t("{0} has no alternatives.", field) : t("Alternatives are not known yet.");
      return;
    }
  }
  const next = round.left.shift();
  const drop = round.made;
  if (!next) {
    round = null;
    proposal.value = null;
    if (drop.length) pin(t("{0} is as before", field), [], drop);
    else live.value = t("{0} stays as it is: these were all its alternatives.", field);
    return;
  }
  const taken = round;
  void propose(field, next.shown, next.pins, drop, () => (taken.made = next.pins));
}

/**
 * Takes another value of a field at once, if nothing else changes. Otherwise what would is shown
 * first, and Enter takes it.
 */
export async function propose(
  field: string, shown: string, wanted: Pin[], drop: Pin[] = [], taken?: () => void,
): Promise<void> {
  const now = doc.value;
  if (!now) return;
  const take = () => {
    proposal.value = null;
    taken?.();
    pin(t("{0} is {1}", field, visible(shown, 60)), wanted, drop);
  };
  const dropped = new Set(drop.map((each) => JSON.stringify(each)));
  let pins = now.pins.filter((each) => !dropped.has(JSON.stringify(each)));
  for (const each of wanted) pins = add(now, pins, each, [...kinds.value.values()]);
  try {
    const preview = await postPreview(now, pins);
    if (doc.value?.seq !== now.seq || doc.value.n !== now.n) return;
    const changes = preview.changes.filter((change) => change.field !== field);
    if (!changes.length && !preview.worse.length && !preview.clash.length) {
      take();
      return;
    }
    proposal.value = { field, shown, preview: { ...preview, changes }, take };
    const also = [...changes.map((change) => change.field), ...preview.worse].map((each) => visible(each, 80));
    live.value = t("{0} would be {1}. Also: {2}. Enter takes it, Escape does not.", field, visible(shown, 60), listed(also));
  } catch (error) {
    if (!(error instanceof Refused)) take(); // waits until there is a connection
    else live.value = visible(error.message, 300);
  }
}

const isMade = (pin: Pin): boolean =>
  (doc.value?.pins ?? []).some((each) => JSON.stringify(each) === JSON.stringify(pin));

/** Takes an alternative as a whole: all the fields in which it differs. */
export function take(at: number): void {
  const other = others.value?.alternatives[at];
  if (other) pin(t("Alternative {0} taken", at + 1), other.pins.filter((each) => !isMade(each)));
}

/** Takes over what an earlier review said, which was made for other words or rules. */
export function takeOver(): void {
  const stale = doc.value?.stale;
  if (stale) pin(t("The earlier pins are taken over"), stale.pins);
}

// --- the document ------------------------------------------------------------------------------

export function undoOrRedo(step: "undo" | "redo"): void {
  const now = doc.value;
  if (!now) return;
  make({ kind: "step", n: now.n, step, says: t(step === "undo" ? "Undone" : "Done again") });
}

/** Accepts, rejects or skips the document, or opens it again, and goes to the next one. */
export function decide(verdict: Verdict | null, confirmed = false): void {
  const now = doc.value;
  if (!now) return;
  const says = t(verdict ? `this document is ${verdict}` : "this document is open");
  const seconds = clock.seconds();
  make({ kind: "verdict", n: now.n, verdict, note: now.note, seconds, confirmed, says, stay: false });
}

/** Keeps a note, with the verdict as it is. */
export function keepNote(note: string): void {
  const now = doc.value;
  if (!now || note === now.note) return;
  const { n, verdict } = now;
  const says = t("this document has a note");
  make({ kind: "verdict", n, verdict, note, seconds: clock.seconds(), confirmed: true, says, stay: true });
}

const MANY = 20; // documents of a request

/** Accepts all documents that ask for no look. */
export async function acceptAll(): Promise<void> {
  const list = (queue.value?.documents ?? []).filter((each) => each.passes && each.verdict === null && !each.error);
  const done: [number, number][] = [];
  notice.value = null;
  try {
    for (let from = 0; from < list.length; from += MANY) {
      const some = list.slice(from, from + MANY).map((each): [number, number] => [each.n, each.seq]);
      done.push(...(await postMany("accept", some)).documents);
      live.value = t("{0} of {1} accepted …", done.length, list.length);
    }
  } catch (error) {
    live.value = visible(String((error as Error).message), 300);
  }
  await afterMany();
  const left = list.length - done.length;
  notice.value = {
    kind: left ? "warn" : "good",
    text: `${t("{0} accepted.", count(done.length, "document"))}${left ? ` ${t("{0} not: they have changed.", left)}` : ""}`,
    action: { name: t("Take it back"), run: () => void takeAllBack(done) },
  };
  live.value = notice.value.text;
}

async function takeAllBack(done: [number, number][]): Promise<void> {
  let taken = 0;
  for (let from = 0; from < done.length; from += MANY) {
    taken += (await postMany("take-back", done.slice(from, from + MANY))).documents.length;
  }
  await afterMany();
  live.value = t("{0} taken back.", count(taken, "document"));
}

async function afterMany(): Promise<void> {
  await loadQueue();
  if (doc.value) await open(doc.value.n);
}

export function openDialog(which: Dialog): void {
  const now = doc.value;
  if (which === "label" && !chosenWords()) return;
  draft.value = "";
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
