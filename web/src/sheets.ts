// Where the words of a document are drawn: a sheet per page, in units of its boxes.

import { computed } from "./signals";
import type { Doc } from "./api";
import { doc } from "./state";

export type Box = readonly [x0: number, y0: number, x1: number, y1: number];

/** What is shown of a page with boxes, and the median height of a word. */
export interface View {
  box: Box;
  height: number;
}

export interface Sheet {
  page: number;
  words: number[];
  view: View | null;
  picture: boolean;
}

/** Pixels, the height of a word of median height where there is room, and where there is little. */
const [READABLE, LEAST] = [20, 12];

/** The largest and smallest width of a page, in pixels; in between, it is as wide as its pane. */
export const widths = ({ box, height }: View): [largest: number, smallest: number] => {
  const width = (box[2] - box[0]) / height;
  return [Math.round(width * READABLE), Math.round(width * LEAST)];
};

const CHUNK = 400; // words of running text on one sheet

let made: { words: string[]; sheets: Sheet[] } = { words: [], sheets: [] };

export const sheets = computed<Sheet[]>(() => {
  const now = doc.value;
  // Words and boxes of a document never change, so its sheets are made once.
  if (now && now.words !== made.words) made = { words: now.words, sheets: sheetsOf(now) };
  return now ? made.sheets : [];
});

function sheetsOf(now: Doc): Sheet[] {
  const byPage = new Map<number, number[]>();
  now.words.forEach((_, word) => {
    const page = now.pages?.[word] ?? 0;
    const list = byPage.get(page);
    if (list) list.push(word);
    else byPage.set(page, [word]);
  });
  const found: Sheet[] = [];
  for (const page of [...byPage.keys()].sort((a, b) => a - b)) {
    const list = byPage.get(page) ?? [];
    if (now.boxes && !isNowhere(now, list)) {
      found.push(boxed(now, page, list));
    } else {
      for (let from = 0; from < list.length; from += CHUNK) {
        found.push({ page, words: list.slice(from, from + CHUNK), view: null, picture: false });
      }
    }
  }
  return found;
}

/** Whether words are printed nowhere: somebody said that the document has them. */
export const isNowhere = (now: Doc, words: number[]): boolean =>
  now.boxes !== null && words.every((word) => boxOf(now, word).every((edge) => edge === 0));

function boxed(now: Doc, page: number, words: number[]): Sheet {
  const boxes = words.map((word) => boxOf(now, word));
  const heights = boxes.map((box) => box[3] - box[1]).filter((height) => height > 0);
  heights.sort((a, b) => a - b);
  const height = heights[heights.length >> 1] || 20;
  const size = now.sizes?.[page];
  const picture = Boolean(size && now.images[page]);
  if (size && picture) return { page, words, view: { box: [0, 0, ...size], height }, picture };
  const margin = height;
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const box of boxes) {
    [x0, y0] = [Math.min(x0, box[0]), Math.min(y0, box[1])];
    [x1, y1] = [Math.max(x1, box[2]), Math.max(y1, box[3])];
  }
  const box: Box = [x0 - margin, y0 - margin, x1 + margin, y1 + margin];
  return { page, words, view: { box, height }, picture };
}

export function boxOf(now: Doc, word: number): Box {
  return now.boxes?.[word] ?? [0, 0, 0, 0];
}

/** The sheet that a word is on. */
export function sheetOf(word: number): number {
  return sheets.value.findIndex((sheet) => {
    const [first, last] = [sheet.words[0] ?? 0, sheet.words.at(-1) ?? 0];
    return word >= first && word <= last && sheet.words.includes(word);
  });
}

/** One box per printed line, for words in reading order. */
export function linesOf(now: Doc, words: number[]): Box[] {
  const lines: Box[] = [];
  for (const word of words) {
    const box = boxOf(now, word);
    const line = lines.at(-1);
    const shared = line ? Math.min(line[3], box[3]) - Math.max(line[1], box[1]) : 0;
    if (line && box[0] >= line[0] && shared > (box[3] - box[1]) / 2) {
      lines[lines.length - 1] = [
        Math.min(line[0], box[0]),
        Math.min(line[1], box[1]),
        Math.max(line[2], box[2]),
        Math.max(line[3], box[3]),
      ];
    } else {
      lines.push(box);
    }
  }
  return lines;
}
