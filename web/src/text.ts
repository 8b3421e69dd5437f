// Texts of documents are anybody's: what is shown of them, in plain words; and those of the page, in its language.

import { NOUNS, TEXTS } from "./texts";

// Control characters, marks that change the direction of the text around them, lone surrogates.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text to show: hidden characters become visible, and what is too long is cut. */
export function visible(text: string, longest = 300): string {
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return short.replace(HIDDEN, "\ufffd");
}

const LANGUAGES = ["en", "de", "fr"];

let language = 0; // its number among these

/** Chooses the first of these languages that the page has, or English. */
export function speak(wanted: readonly string[]): void {
  const known = wanted.map((tag) => LANGUAGES.indexOf(tag.slice(0, 2).toLowerCase()));
  language = known.find((each) => each >= 0) ?? 0;
  document.documentElement.lang = LANGUAGES[language] ?? "en";
}

/** The language of the page, as requests ask for it. */
export const spoken = (): string => LANGUAGES[language] ?? "en";

export type Text = keyof typeof TEXTS;

/** A text of the page in its language, with what belongs at {0} and {1}. */
export function t(text: Text, ...filled: (string | number)[]): string {
  const found = language ? (TEXTS[text][language - 1] ?? text) : text;
  return found.replace(/\{(\d)\}/g, (_, at) => String(filled[Number(at)] ?? ""));
}

/** So many things, in words. */
export function count(n: number, noun: keyof typeof NOUNS): string {
  return `${n.toLocaleString(spoken())} ${NOUNS[noun][language as 0 | 1 | 2][n === 1 ? 0 : 1]}`;
}

/** The name of a field in words. */
export const named = (field: string): string => field.replace(/_/g, " ");

/** "a", "a and b", "a, b and c". */
export const listed = (items: string[]): string => new Intl.ListFormat(spoken()).format(items);

export function percent(share: number): string {
  // Rounded down: "100 %" would say that there is no doubt left.
  return share >= 1 ? "100 %" : `${Math.floor(share * 100)} %`;
}

export const VERDICTS = { accepted: "✓ accepted", rejected: "✗ rejected", skipped: "↷ skipped" } as const satisfies Record<string, Text>;
