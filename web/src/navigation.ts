// Going from document to document, worst first.

import { getAlternatives, getDocument, getQueue, isLocked, Offline, type Doc, type Entry, type Verdict } from "./api";
import { trouble } from "./connection";
import {
  absentShown,
  current,
  dialog,
  doc,
  editing,
  entries,
  lit,
  isLook,
  known,
  live,
  looks,
  moved,
  notice,
  others,
  proposal,
  queue,
  queueShown,
  selection,
  stopId,
  stops,
  type Stop,
} from "./state";
import { count, t, visible } from "./text";

/** Reads the queue; a lost connection is noticed, and the old queue stays. */
export async function loadQueue(): Promise<void> {
  try {
    queue.value = await getQueue();
  } catch (error) {
    trouble(error);
  }
}

let wanted: number | null = null;

/** Opens a document and goes to its first doubtful field. */
export async function open(n: number): Promise<void> {
  wanted = n;
  try {
    const found = await getDocument(n);
    if (wanted !== n) return; // somewhere else by now
    wanted = null;
    history.replaceState(null, "", `#${n}`);
    clock.restart();
    moved.value = new Map();
    lit.value = [];
    selection.value = null;
    current.value = null;
    editing.value = proposal.value = null;
    absentShown.value = false;
    show(found);
    if (window.innerWidth < 900) queueShown.value = false; // it would leave no room for the page
    const look = count(looks.value.size, "value");
    live.value = t("{0} is open, with {1} to look at.", visible(found.id, 60), look);
    const first = stops.value.find(isLook) ?? stops.value[0];
    if (first) goTo(first);
  } catch (error) {
    if (error instanceof Offline || isLocked(error)) {
      trouble(error);
    } else {
      wanted = null;
      notice.value = { kind: "bad", text: visible(String((error as Error).message), 600) };
    }
  }
}

/** Opens the document that could not be opened while there was no connection. */
export function openWanted(): void {
  if (wanted !== null) void open(wanted);
}

/** Shows a state of a document; other answers follow. */
export function show(next: Doc): void {
  // What is known about other answers stays on the page until newer ones come.
  const isOther = doc.value?.n !== next.n;
  if (isOther) others.value = null;
  const filled = Object.keys(next.answer.fields).filter((name) => next.answer.fields[name]?.length);
  known.value = new Set([...(isOther ? [] : known.value), ...filled]);
  doc.value = next;
  lit.value = [];
  proposal.value = null;
  update(next.n, next.entry);
  loadOthers(next);
}

let timer: number | undefined;

function loadOthers(next: Doc): void {
  clearTimeout(timer);
  // Not at once: a reviewer who pins three words in a row waits for the last answer only.
  timer = window.setTimeout(async () => {
    try {
      const found = await getAlternatives(next.n);
      const now = doc.value;
      if (now?.n === next.n && now.seq === found.seq) others.value = found;
    } catch {
      // The answer stands without them.
    }
  }, 250);
}

/** Opens the next document that is open, after a verdict on this one. */
export async function openNext(n: number, verdict: Verdict): Promise<void> {
  const list = entries.value;
  const at = list.findIndex((entry) => entry.n === n);
  const rest = [...list.slice(at + 1), ...list.slice(0, Math.max(at, 0))];
  const next = rest.find((entry) => entry.verdict === null && !entry.error);
  update(n, { verdict });
  if (next) await open(next.n);
  else await open(n);
  await loadQueue();
  const passing = queue.value?.progress.passing ?? 0;
  if (!next) {
    const more = passing ? ` ${t("{0} with nothing to look at can be accepted together.", count(passing, "other"))}` : "";
    live.value = `${t("No open document is left in this list.")}${more}`;
    if (passing) queueShown.value = true;
  }
}

/** Writes what is known of a document into the queue on the page, until the server's comes. */
function update(n: number, known: Partial<Entry>): void {
  const old = queue.value;
  if (!old) return;
  queue.value = {
    ...old,
    documents: old.documents.map((entry) => (entry.n === n ? { ...entry, ...known } : entry)),
  };
}

/** The next or previous document of the list. */
export function step(by: 1 | -1): void {
  let list = entries.value.filter((entry) => !entry.error);
  // One that is in another list is followed by that which follows it in all.
  if (!list.some((entry) => entry.n === doc.value?.n)) {
    list = queue.value?.documents.filter((entry) => !entry.error) ?? [];
  }
  const at = list.findIndex((entry) => entry.n === doc.value?.n);
  const next = at < 0 ? list[0] : list[at + by];
  if (next) void open(next.n);
  else live.value = t(by > 0 ? "This is the last document of the list." : "This is the first.");
}

/** Makes this field the current one: its words light up, its button has the focus. */
export function goTo(stop: Stop, focus = true): void {
  choose(stop);
  const button = () => document.getElementById(stopId(stop));
  // At once, if it is drawn: the next key may open a dialog, which gives the focus back to it.
  if (focus) button()?.focus();
  requestAnimationFrame(() => {
    if (!focus) button()?.scrollIntoView({ block: "nearest" });
    else if (dialog.value === null) button()?.focus();
  });
}

/** The focus is never lost: where it was is gone, so it goes to what is nearest. */
export function keepFocus(): void {
  if (document.activeElement !== document.body || dialog.value !== null || editing.value) return;
  const { field, index } = current.value ?? { field: "", index: 0 };
  const own = stops.value.filter((stop) => stop.field === field);
  const nearest = own[Math.min(index, own.length - 1)] ?? stops.value.find(isLook) ?? stops.value[0];
  if (nearest && doc.value) document.getElementById(stopId(nearest))?.focus({ preventScroll: true });
}

/** The focus has come to a field: it is the current one. */
export function arrive(field: string, index: number): void {
  const stop = stops.value.find((each) => each.field === field && each.index === index);
  if (stop) choose(stop);
}

/** Selects the words of a field's value. */
function choose(stop: Stop): void {
  if (editing.value && editing.value.field !== stop.field) editing.value = null;
  if (proposal.value?.field !== stop.field) proposal.value = null;
  current.value = { field: stop.field, index: stop.index };
  lit.value = [];
  selection.value = stop.value && {
    anchor: stop.value.words[0],
    head: stop.value.words[1] - 1,
  };
}

/** The time somebody has looked at a document: a hidden page does not count. */
export const clock = {
  spent: 0,
  since: performance.now(),
  restart(): void {
    this.spent = 0;
    this.since = performance.now();
  },
  pause(): void {
    if (document.hidden) this.spent += performance.now() - this.since;
    else this.since = performance.now();
  },
  seconds(): number {
    return Math.round((this.spent + performance.now() - this.since) / 100) / 10;
  },
};
