// The pages of the document: only those near the viewport are drawn.

import { h, type ComponentChildren } from "preact";
import { selectWords } from "./actions";
import { Drawing } from "./drawing";
import { Flow } from "./flow";
import { goTo } from "./navigation";
import { loading, near, pictures } from "./pictures";
import { same } from "./pins";
import { afterDrawing } from "./signals";
import { isNowhere, sheetOf, sheets, widths, type Sheet, type View } from "./sheets";
import { boxesShown, doc, lit, paneWidth, selected, selection, valueAt, zoom } from "./state";
import { count, t } from "./text";

const wordAt = (event: Event): number | null => {
  const found = (event.target as Element).closest("[data-word]")?.getAttribute("data-word");
  return found ? Number(found) : null;
};

const sizes = new ResizeObserver(([pane]) => pane && (paneWidth.value = pane.contentRect.width));

const watchSize = (pane: Element | null): void => void (pane && sizes.observe(pane));

let drag: { from: number; moved: boolean } | null = null;

function down(event: PointerEvent): void {
  const word = wordAt(event);
  if (word === null || event.pointerType !== "mouse" || event.button !== 0) return;
  const anchor = event.shiftKey ? selection.value?.anchor : undefined;
  drag = { from: anchor ?? word, moved: anchor !== undefined };
  if (anchor !== undefined) selectWords(anchor, word);
}

function over(event: PointerEvent): void {
  const word = wordAt(event);
  if (!drag || word === null || !(event.buttons & 1)) return;
  if (word !== drag.from) drag.moved = true;
  if (drag.moved) selectWords(drag.from, word);
}

function click(event: MouseEvent): void {
  const dragged = drag?.moved;
  drag = null;
  const word = wordAt(event);
  if (!dragged && word !== null) pick(word);
}

/** A click selects the whole value of a field; a click on a selected value, the single word. */
function pick(word: number): void {
  const stop = valueAt.value.get(word);
  const words = selected.value;
  if (stop?.value && !(words && same(words, stop.value.words))) goTo(stop, false);
  else selectWords(word, word);
}

/** Begins every document at its top, and keeps in view what is selected. */
export function watchSelection(): void {
  let shown: number | undefined;
  afterDrawing(
    () => `${doc.value?.n} ${lit.value[0]?.[0] ?? selection.value?.head}`,
    () => {
      const pane = document.querySelector<HTMLElement>(".pages");
      const word = lit.value[0]?.[0] ?? selection.value?.head;
      if (doc.value?.n !== shown) pane?.scrollTo(0, 0);
      shown = doc.value?.n;
      if (pane && word !== undefined && !drag) reveal(pane, word);
    },
  );
}

/** Scrolls to a word, if it is not in view. */
function reveal(pane: HTMLElement, word: number, patience = 30): void {
  const element = pane.querySelector(`[data-word="${word}"]`);
  if (element) {
    const [frame, box] = [pane.getBoundingClientRect(), element.getBoundingClientRect()];
    const margin = Math.min(60, frame.height / 5);
    if (box.top < frame.top + margin || box.bottom > frame.bottom - margin) {
      pane.scrollTop += (box.top + box.bottom - frame.top - frame.bottom) / 2;
    }
    if (box.left < frame.left || box.right > frame.right) {
      pane.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
    }
    return;
  }
  // Its sheet is not drawn: go there, which draws it.
  if (patience === 30) document.getElementById(`sheet-${sheetOf(word)}`)?.scrollIntoView();
  if (patience > 0) requestAnimationFrame(() => reveal(pane, word, patience - 1));
}

export function Pages() {
  const now = doc.value;
  const total = new Set(sheets.value.map((sheet) => sheet.page)).size;
  const name = now
    ? t("Words of the document: {0} on {1}", count(now.words.length, "word"), count(total, "page"))
    : t("No document");
  return (
    <div
      class={boxesShown.value ? "pages" : "pages bare"}
      ref={watchSize}
      tabIndex={0}
      role="application"
      aria-roledescription={t("document page")}
      aria-label={name}
      aria-describedby="how"
      onPointerDown={down}
      onPointerOver={over}
      onClick={click}
    >
      <p id="how" class="hidden">
        {t("Arrow keys move between words, Shift with them selects several. A digit says what they are.")}
      </p>
      {sheets.value.map((sheet, at) => (
        <SheetView
          key={`${now?.n}/${at}`}
          at={at}
          sheet={sheet}
          heading={total > 1 && sheets.value[at - 1]?.page !== sheet.page}
        />
      ))}
      {now?.words.length === 0 && <p class="quiet">{t("This document has no words.")}</p>}
    </div>
  );
}

function SheetView({ at, sheet, heading }: { at: number; sheet: Sheet; heading: boolean }) {
  const name = doc.value && isNowhere(doc.value, sheet.words) ? t("Printed nowhere") : t("Page {0}", sheet.page + 1);
  const drawn = near.value.has(at);
  const picture = drawn ? pictures.value.get(sheet.page) : undefined;
  return (
    <section id={`sheet-${at}`} class="sheet" aria-label={name}>
      {heading && <h3>{name}</h3>}
      {loading.value.has(sheet.page) && <p class="loading" role="status">{t("Loading the picture of the page …")}</p>}
      {sheet.view ? (
        <Paper view={sheet.view} photo={Boolean(picture)} dim={loading.value.has(sheet.page)}>
          {drawn && <Drawing sheet={sheet} view={sheet.view} picture={picture} />}
        </Paper>
      ) : (
        <Flow at={at} sheet={sheet} drawn={drawn} />
      )}
    </section>
  );
}

interface PaperProps {
  view: View;
  photo: boolean;
  dim: boolean;
  children: ComponentChildren;
}

/** A page with boxes, drawn or not: it has its size at once, so that nothing jumps. */
function Paper({ view, photo, dim, children }: PaperProps) {
  const [x0, y0, x1, y1] = view.box;
  const [width, height] = [x1 - x0, y1 - y0];
  const [largest, smallest] = widths(view);
  return (
    <svg
      class={`paper ${photo ? "photo" : ""} ${dim ? "dim" : ""}`}
      viewBox={`${x0} ${y0} ${width} ${height}`}
      style={{
        width: `calc(${zoom.value} * clamp(${smallest}px, 100%, ${largest}px))`,
        aspectRatio: `${width} / ${height}`,
      }}
    >
      {children}
    </svg>
  );
}
