// Changes of a reviewer: plain data, so that one that could not be sent is sent later, or again.

import {
  getDocument,
  isLocked,
  Offline,
  postPins,
  postStep,
  postVerdict,
  Refused,
  type Doc,
  type Pin,
  type Verdict,
} from "./api";
import { add, same, wordsOf } from "./pins";
import {
  current,
  dialog,
  doc,
  labelName,
  live,
  moved,
  notice,
  offline,
  selected,
  selection,
  session,
  waiting,
} from "./state";
import { listed, t, visible } from "./text";
import { trouble } from "./connection";
import { loadQueue, open, openNext, show } from "./navigation";

export type Change = { n: number; says: string } & (
  | { kind: "pins"; add: Pin[]; drop: Pin[] }
  | { kind: "step"; step: "undo" | "redo" }
  | { kind: "verdict"; verdict: Verdict | null; note: string; seconds: number; confirmed: boolean; stay: boolean }
);

/** Sends a change, after those that still wait. */
export function make(change: Change): void {
  waiting.value = [...waiting.value, change];
  void send();
}

let sending = false;

/** Sends what waits, one after the other: each needs the state that the one before it made. */
export async function send(): Promise<void> {
  if (sending) return;
  sending = true;
  try {
    for (let next = waiting.value[0]; next; next = waiting.value[0]) {
      try {
        await perform(next);
        offline.value = false;
      } catch (error) {
        if (error instanceof Offline || isLocked(error)) {
          trouble(error);
          return;
        }
        refuse(next, error);
      }
      waiting.value = waiting.value.slice(1);
    }
  } finally {
    sending = false;
  }
}

async function perform(change: Change): Promise<void> {
  const before = doc.value?.n === change.n ? doc.value : await getDocument(change.n);
  const after = unmoved(before, await post(before, change));
  if (change.kind === "verdict") {
    decided(after, change);
  } else if (doc.value?.n === change.n) {
    redraw(before, after, change);
  }
}

function post(before: Doc, change: Change): Promise<Doc> {
  switch (change.kind) {
    case "step":
      return postStep(before, change.step);
    case "verdict":
      return postVerdict(before, {
        verdict: change.verdict,
        note: change.note,
        seconds: change.seconds,
        confirmed: change.confirmed,
      });
    case "pins": {
      const dropped = new Set(change.drop.map((pin) => JSON.stringify(pin)));
      let pins = before.pins.filter((pin) => !dropped.has(JSON.stringify(pin)));
      for (const pin of change.add) pins = add(before, pins, pin, session.value?.sets[before.rules]?.fields ?? []);
      return postPins(before, pins);
    }
  }
}

/** What never changes stays the same object, so that it is neither sent nor drawn again. */
function unmoved(before: Doc, after: Doc): Doc {
  const { words, boxes, pages, sizes, images, joins } = before;
  return { ...after, words, boxes, pages, sizes, images, joins };
}

/** Shows the new state of the document, with the words that moved. */
function redraw(before: Doc, after: Doc, change: Change): void {
  const named = change.kind === "pins" ? change.add.flatMap((pin) => wordsOf(pin) ?? []) : [];
  const [first, end] = [Math.min(...named), Math.max(...named)];
  const moves: typeof moved.value = new Map();
  after.answer.labels.forEach((label, word) => {
    const old = before.answer.labels[word] ?? "O";
    const pinned = word >= first && word < end;
    if (old !== label) moves.set(word, { word, old, new: label, pinned });
  });
  const at = current.value;
  const valueIn = (some: Doc) => (at ? some.answer.fields[at.field]?.[at.index]?.words : undefined);
  const [was, is] = [valueIn(before), valueIn(after)];
  const followed = was && selected.value && same(was, selected.value);
  show(after);
  // The value of the field in hand is selected wherever it is now.
  if (followed) selection.value = is ? { anchor: is[0], head: is[1] - 1 } : null;
  moved.value = moves;
  notice.value = null;
  live.value = spoken(after, change, moves);
}

function spoken(after: Doc, change: Change, moves: typeof moved.value): string {
  const also = [...moves]
    .filter(([, move]) => !move.pinned)
    .map(([word, move]) => {
      const text = visible(after.words[word] ?? "", 40);
      return t("{0} is now {1}", `“${text}”`, labelName(move.new));
    });
  const because = also.length ? ` ${t("Because of that, {0}.", listed(also))}` : "";
  return `${change.says}.${because} ${after.answer.summary}`;
}

function decided(after: Doc, change: Change & { kind: "verdict" }): void {
  const { n, verdict, stay } = change;
  const done = stay ? "{0} has your note." : verdict ? (`{0} is ${verdict}.` as const) : "{0} is open again.";
  notice.value = {
    kind: verdict === "rejected" ? "warn" : "good",
    text: t(done, visible(after.id, 60)),
    action: { name: t("Take it back"), run: () => void takeBack(n) },
  };
  live.value = notice.value.text;
  if (verdict === null || stay) {
    if (doc.value?.n === n) show(after);
    void loadQueue();
  } else {
    void openNext(n, verdict);
  }
}

async function takeBack(n: number): Promise<void> {
  await open(n);
  make({ n, kind: "step", step: "undo", says: t("Taken back") });
}

function refuse(change: Change, error: unknown): void {
  const problem = error instanceof Refused ? error.problem : null;
  if (problem?.unseen) {
    dialog.value = { unseen: problem.unseen };
    return;
  }
  if (problem?.document) {
    const newer = problem.document;
    if (doc.value?.n === newer.n) show(unmoved(doc.value, newer));
    const who = newer.reviewer ? visible(newer.reviewer, 40) : t("Somebody");
    notice.value = {
      kind: "warn",
      text: t("{0} changed this document in the meantime. You see the newer state; your change was not made: {1}.", who, change.says),
      action: { name: t("Make it now"), run: () => make(change) },
    };
  } else {
    notice.value = { kind: "bad", text: problem ? visible(String((error as Error).message), 600) : String(error) };
  }
  live.value = notice.value.text;
}
