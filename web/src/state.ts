// What the page knows, as signals; actions.ts changes it, the views draw it.

import { computed, signal } from "./signals";
import type {
  Alternatives,
  Doc,
  Entry,
  FieldKind,
  Move,
  Preview,
  Queue,
  Range,
  RuleSet,
  Session,
  Sure,
  Value,
} from "./api";
import { fieldOf, overlap, wordsOf } from "./pins";
import type { Change } from "./changes";
import { t } from "./text";

export const session = signal<Session | null>(null);
export const queue = signal<Queue | null>(null);
export const doc = signal<Doc | null>(null);
/** Other answers for the document as it is now; null until they have come. */
export const others = signal<Alternatives | null>(null);

/** Why nothing can be shown, if so. */
export const failure = signal<string | null>(null);
export const offline = signal(false);
/** Whether the server was started again, and has another token now. */
export const locked = signal(false);
/** Changes that the server has not confirmed yet, oldest first. */
export const waiting = signal<Change[]>([]);

export interface Notice {
  kind: "good" | "warn" | "bad";
  text: string;
  action?: { name: string; run: () => void };
}
export const notice = signal<Notice | null>(null);
/** What a screen reader says next. */
export const live = signal("");

export type Dialog = "help" | "note" | "reviewer" | "label" | "field" | { unseen: string[] };
export const dialog = signal<Dialog | null>(null);
/** The text that is being written, in a dialog or in the line of a field. */
export const draft = signal("");

/** Words whose text is being put right: those of a field, of one that is nowhere yet, or others. */
export interface Editing {
  words: Range | null;
  field: string | null;
  index: number;
}
export const editing = signal<Editing | null>(null);
/** The choice that Enter takes while something is put right. */
export const choice = signal(0);

/** A value that would change more than its field: it is taken when that was seen. */
export interface Proposal {
  field: string;
  shown: string;
  preview: Preview;
  take: () => void;
}
export const proposal = signal<Proposal | null>(null);

// --- the queue ---------------------------------------------------------------------------------

const LOW = 0.9;

export const isLow = (sure: Sure): boolean => sure.known && sure.low < LOW;

const isOpen = (entry: Entry) => entry.verdict === null && !entry.error;

export const FILTERS: Record<string, (entry: Entry) => boolean> = {
  "to look at": (entry) => isOpen(entry) && !entry.passes,
  "nothing to look at": (entry) => isOpen(entry) && entry.passes,
  open: isOpen,
  "rule violated": (entry) => entry.violated?.length > 0,
  "rules not checked": (entry) => entry.unchecked > 0,
  "not proven": (entry) => entry.status !== null && !entry.error && !entry.optimal,
  "low confidence": (entry) => entry.confidence != null && entry.confidence < LOW,
  accepted: (entry) => entry.verdict === "accepted",
  rejected: (entry) => entry.verdict === "rejected",
  skipped: (entry) => entry.verdict === "skipped",
  unreadable: (entry) => Boolean(entry.error),
  all: () => true,
};

export const filter = signal("to look at");
export const search = signal("");
export const queueShown = signal(window.innerWidth >= 900);

export const entries = computed<Entry[]>(() => {
  const chosen = FILTERS[filter.value];
  const wanted = search.value.trim().toLowerCase();
  return (queue.value?.documents ?? []).filter(
    (entry) =>
      (wanted ? `${entry.id} ${entry.heading?.join(" ")}`.toLowerCase().includes(wanted) : true) &&
      chosen?.(entry),
  );
});

// --- the fields of the document ----------------------------------------------------------------

/** The rules that the document is under. */
export const ruleSet = computed<RuleSet | undefined>(() => session.value?.sets[doc.value?.rules ?? ""]);

export const kinds = computed<Map<string, FieldKind>>(
  () => new Map(ruleSet.value?.fields.map((kind) => [kind.name, kind])),
);

/** The field that a label of the model belongs to, in words. */
export function labelName(label: string): string {
  if (label === "O") return t("no field");
  const type = label.replace(/^[BIESLU]-/, "");
  return ruleSet.value?.fields.find((kind) => kind.label === type)?.name ?? type;
}

/** A place that j and k stop at: a value of a field, or a field without one (`value` is null). */
export interface Stop {
  field: string;
  index: number;
  value: Value | null;
}

const stopsOf = (field: string): Stop[] => {
  const values = doc.value?.answer.fields[field] ?? [];
  if (values.length === 0) return [{ field, index: 0, value: null }];
  return values.map((value, index) => ({ field, index, value }));
};

/** Fields that are no columns of rows, each with its stops. */
const every = computed<[FieldKind, Stop[]][]>(() =>
  [...kinds.value.values()]
    .filter((kind) => kind.row === null)
    .map((kind) => [kind, stopsOf(kind.name)]),
);

/** Whether fields that are not on the page are shown, too. */
export const absentShown = signal(false);

/** Fields that have had a value since the document was opened. */
export const known = signal<ReadonlySet<string>>(new Set());

/** Whether a field without a value has its line: it is needed, in hand, or had a value just now. */
const isListed = (kind: FieldKind, [stop]: Stop[]): boolean =>
  Boolean(stop?.value) ||
  absentShown.value ||
  kind.needed ||
  current.value?.field === kind.name ||
  known.value.has(kind.name) ||
  (stop !== undefined && isPinned(stop));

export const single = computed(() => every.value.filter(([kind, stops]) => isListed(kind, stops)));
export const folded = computed(() => every.value.filter(([kind, stops]) => !isListed(kind, stops)));

export interface Table {
  kind: string;
  columns: FieldKind[];
  /** One list of stops per column and row: a row may have two names. */
  rows: Stop[][][];
}

export const tables = computed<Table[]>(() => {
  const tables: Table[] = [];
  for (const [kind, names] of Object.entries(ruleSet.value?.rows ?? {})) {
    const columns = names.flatMap((name) => kinds.value.get(name) ?? []);
    const byRow = new Map<number, Stop[][]>();
    columns.forEach((column, at) => {
      for (const stop of stopsOf(column.name)) {
        if (!stop.value) continue;
        const row = stop.value.row ?? -1;
        if (!byRow.has(row)) byRow.set(row, columns.map(() => []));
        byRow.get(row)?.[at]?.push(stop);
      }
    });
    // Values without a row come last.
    const order = [...byRow.keys()].sort((a, b) => (a < 0 ? 1 : b < 0 ? -1 : a - b));
    tables.push({ kind, columns, rows: order.map((row) => byRow.get(row) ?? []) });
  }
  return tables;
});

export const stops = computed<Stop[]>(() => [
  ...single.value.flatMap(([, stops]) => stops),
  ...tables.value.flatMap((table) => table.rows.flat(2)),
]);

export const stopId = (stop: { field: string; index: number }): string =>
  `field-${[...kinds.value.keys()].indexOf(stop.field)}-${stop.index}`;

/** Places that a person should look at, as `stopId` names them. */
export const looks = computed<Set<string>>(() => {
  const found = others.value?.stops ?? doc.value?.answer.stops ?? [];
  return new Set(found.map(([field, index]) => stopId({ field, index })));
});

export const isLook = (stop: Stop): boolean => looks.value.has(stopId(stop));

// --- the words ---------------------------------------------------------------------------------

/** The selected words; `head` is the end that Shift moves. */
export const selection = signal<{ anchor: number; head: number } | null>(null);
export const current = signal<{ field: string; index: number } | null>(null);
/** Words to light up besides the selection: those that a check reads. */
export const lit = signal<Range[]>([]);
/** Words whose labels changed with the last change; true if the reviewer named the word. */
export const moved = signal<Map<number, Move>>(new Map());
export const boxesShown = signal(true);
export const zoom = signal(1);
/** Pixels that a page can be wide. */
export const paneWidth = signal(Infinity);

export const selected = computed<Range | null>(() => {
  const chosen = selection.value;
  if (!chosen) return null;
  return [Math.min(chosen.anchor, chosen.head), Math.max(chosen.anchor, chosen.head) + 1];
});

/** The value that a word is part of. */
export const valueAt = computed<Map<number, Stop>>(() => {
  const found = new Map<number, Stop>();
  for (const stop of stops.value) {
    if (!stop.value) continue;
    for (let word = stop.value.words[0]; word < stop.value.words[1]; word++) found.set(word, stop);
  }
  return found;
});

export const pinnedWords = computed<Set<number>>(() => {
  const found = new Set<number>();
  for (const pin of doc.value?.pins ?? []) {
    const words = wordsOf(pin);
    if (words) for (let word = words[0]; word < words[1]; word++) found.add(word);
  }
  return found;
});

/** Whether a pin is about this value, or about this field as a whole. */
export function isPinned(stop: Stop): boolean {
  return (doc.value?.pins ?? []).some((pin) => {
    const words = wordsOf(pin);
    if (!words) return fieldOf(pin) === stop.field;
    return stop.value !== null && overlap(words, stop.value.words);
  });
}

/** The text of a word as the reviewer or the reader of the file has it. */
export const wordText = (at: number): string =>
  doc.value?.texts[at] ?? doc.value?.words[at] ?? "";
