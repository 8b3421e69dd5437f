// Which sheets are near the viewport, and their pictures: fetched with the token.

import { getPicture } from "./api";
import { afterDrawing, always, signal } from "./signals";
import { sheets, type Sheet } from "./sheets";
import { doc } from "./state";

/** Numbers of the sheets that are drawn. */
export const near = signal<ReadonlySet<number>>(new Set());
/** Heights of sheets that were drawn before, in pixels. */
export const heights = new Map<number, number>();
/** Addresses of pictures by page. */
export const pictures = signal<ReadonlyMap<number, string>>(new Map());
/** Pages whose pictures are on their way. */
export const loading = signal<ReadonlySet<number>>(new Set());

let observer: IntersectionObserver | undefined;

function seen(changes: IntersectionObserverEntry[]): void {
  const next = new Set(near.value);
  for (const { target, isIntersecting } of changes) {
    const at = Number(target.id.slice("sheet-".length));
    if (isIntersecting) next.add(at);
    else if (next.delete(at)) heights.set(at, (target as HTMLElement).offsetHeight);
  }
  near.value = next;
}

/** Watches the sheets of whatever document is shown. */
export function watchSheets(): void {
  let before: Sheet[] = [];
  always(() => {
    if (sheets.value === before) return;
    before = sheets.value;
    heights.clear();
    near.value = new Set([0, 1]); // what a document begins with is drawn at once
  });
  afterDrawing(
    () => sheets.value,
    () => {
      observer?.disconnect();
      const pane = document.querySelector(".pages");
      if (!pane) return;
      observer = new IntersectionObserver(seen, { root: pane, rootMargin: "100% 0px" });
      for (const sheet of pane.querySelectorAll(".sheet")) observer.observe(sheet);
    },
  );
  always(() => loadPictures(doc.value?.n, sheets.value, near.value));
}

let shownOf: number | undefined;
const asked = new Set<number>();

/** Asks for the pictures of near sheets; they stay until another document is shown. */
function loadPictures(n: number | undefined, sheets: Sheet[], near: ReadonlySet<number>): void {
  if (n !== shownOf) {
    for (const address of pictures.value.values()) URL.revokeObjectURL(address);
    asked.clear();
    pictures.value = new Map();
    loading.value = new Set();
    shownOf = n;
  }
  for (const at of near) {
    const sheet = sheets[at];
    if (n !== undefined && sheet?.picture && !asked.has(sheet.page)) void load(n, sheet.page);
  }
}

async function load(n: number, page: number): Promise<void> {
  asked.add(page);
  loading.value = new Set(loading.value).add(page);
  try {
    const address = await getPicture(n, page);
    if (n === shownOf) pictures.value = new Map(pictures.value).set(page, address);
    else URL.revokeObjectURL(address);
  } catch {
    // The words in their boxes are shown instead.
  } finally {
    if (n === shownOf) loading.value = new Set([...loading.value].filter((each) => each !== page));
  }
}
