// Pins: what a reviewer has said about a document, and how a new word of theirs replaces old ones.

import { t } from "./text";
import type { Doc, FieldKind, Fields, Pin, Range } from "./api";

export const overlap = (a: Range, b: Range) => a[0] < b[1] && b[0] < a[1];
export const same = (a: Range, b: Range) => a[0] === b[0] && a[1] === b[1];

/** The words of a pin that is about words. */
export const wordsOf = (pin: Pin): Range | null => ("words" in pin ? pin.words : null);

/** The field a pin is about, if it says something about the place or value of one. */
export function fieldOf(pin: Pin): string | null {
  if ("not" in pin) return pin.not;
  return "field" in pin ? pin.field : null;
}

export const textAt = (doc: Doc, [start, end]: Range): string =>
  Array.from({ length: end - start }, (_, i) => doc.texts[start + i] ?? doc.words[start + i] ?? "")
    .filter(Boolean)
    .join(" ");

/**
 * The pins after a reviewer adds one. The newer word wins: what it contradicts goes, what it does
 * not mention stays.
 */
export function add(doc: Doc, pins: Pin[], pin: Pin, kinds: FieldKind[]): Pin[] {
  const kept = pins.filter((old) => !contradicts(doc, old, pin, kinds));
  return [...kept, pin];
}

function contradicts(doc: Doc, old: Pin, pin: Pin, kinds: FieldKind[]): boolean {
  const [there, here] = [wordsOf(old), wordsOf(pin)];
  if ("text" in pin || "text" in old) {
    return "text" in pin && "text" in old && overlap(pin.words, old.words);
  }
  const field = fieldOf(pin);
  if (!here) return field === fieldOf(old) && !("not" in old);
  if (!there) return field !== null && !("not" in pin) && field === fieldOf(old);
  if (overlap(here, there)) {
    // "Not a total" and "not a tax" can both be true of a word.
    return !("not" in pin && "not" in old && pin.not !== old.not);
  }
  if (field === null || "not" in pin || "not" in old || field !== fieldOf(old)) return false;
  // A field with one value may be printed twice, but only with the same text.
  const kind = kinds.find((each) => each.name === field);
  const single = kind !== undefined && !kind.many && kind.row === null;
  return single && textAt(doc, here) !== textAt(doc, there);
}

/** The pins that give a field the values it has in an alternative. */
export function choose(current: Fields, wanted: Fields, field: string): Pin[] {
  const now = current[field] ?? [];
  const then = wanted[field] ?? [];
  if (then.length === 0) return [{ field, value: null }];
  const gone = now.filter((old) => !then.some((value) => overlap(value.words, old.words)));
  return [
    ...gone.map((old): Pin => ({ words: old.words, not: field })),
    ...then.map((value): Pin => ({ words: value.words, field })),
  ];
}

/** A pin in plain words. */
export function said(doc: Doc, pin: Pin): string {
  if (!("words" in pin)) {
    return pin.value === null ? t("{0} is not on the page", pin.field) : t("{0} is {1}", pin.field, pin.value);
  }
  const printed = Array.from(
    { length: pin.words[1] - pin.words[0] },
    (_, i) => doc.words[pin.words[0] + i] ?? "",
  ).join(" ");
  const subject = `“${printed}”`;
  if ("text" in pin) return t("{0} reads “{1}”", subject, pin.text);
  if ("not" in pin) return t("{0} is not {1}", subject, pin.not);
  return pin.field === null ? t("{0} is no field", subject) : t("{0} is {1}", subject, pin.field);
}
