// Texts of documents are anybody's: what is shown of them, in plain words.

// Control characters, marks that change the direction of the text around them, lone surrogates.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text to show: hidden characters become visible, and what is too long is cut. */
export function visible(text: string, longest = 300): string {
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return short.replace(HIDDEN, "\ufffd");
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** The name of a field in words. */
export const named = (field: string): string => field.replace(/_/g, " ");

/** "a", "a and b", "a, b and c". */
export function listed(items: string[]): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

export function percent(share: number): string {
  // Rounded down: "100 %" would say that there is no doubt left.
  return share >= 1 ? "100 %" : `${Math.floor(share * 100)} %`;
}

export const VERDICTS = { accepted: "✓ accepted", rejected: "✗ rejected", skipped: "↷ skipped" } as const;
