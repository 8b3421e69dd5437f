// Putting a value right in its own line, with what is printed beside it.

import { h } from "preact";
import type { Range } from "./api";
import { startEditing, stopEditing, takeWay, ways } from "./editing";
import { pictures } from "./pictures";
import { boxOf, sheetOf, sheets, type Box } from "./sheets";
import { choice, doc, draft, editing, wordText } from "./state";
import { t, visible } from "./text";

const AROUND = 3; // heights of a word that are shown left and right of what is cut out
const NEAR = 6; // words that are shown around others without boxes

/** What the page shows at these words: its picture, or its words, cut out and enlarged. */
export function Crop({ words: [start, end] }: { words: Range }) {
  const now = doc.value;
  const sheet = sheets.value[sheetOf(start)];
  if (!now || !sheet) return null;
  const own = Array.from({ length: end - start }, (_, i) => start + i);
  if (!sheet.view) {
    const said = (from: number, to: number) =>
      Array.from({ length: Math.max(to - from, 0) }, (_, i) => wordText(from + i)).join(" ");
    return (
      <p class="crop">
        … {visible(said(Math.max(start - NEAR, 0), start))} <mark>{visible(said(start, end))}</mark>{" "}
        {visible(said(end, Math.min(end + NEAR, now.words.length)))} …
      </p>
    );
  }
  const boxes = own.map((word) => boxOf(now, word));
  const [left, top] = [Math.min(...boxes.map((box) => box[0])), Math.min(...boxes.map((box) => box[1]))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box[2])), Math.max(...boxes.map((box) => box[3]))];
  const high = Math.max(sheet.view.height, Math.min(bottom - top, 3 * sheet.view.height));
  const box: Box = [left - AROUND * high, top - 0.6 * high, right + AROUND * high, bottom + 0.6 * high];
  const [x0, y0, x1, y1] = sheet.view.box;
  const picture = pictures.value.get(sheet.page);
  const seen = sheet.words.filter((word) => {
    const [a, b, c, d] = boxOf(now, word);
    return a < box[2] && c > box[0] && b < box[3] && d > box[1];
  });
  return (
    <svg
      class="crop"
      viewBox={`${box[0]} ${box[1]} ${box[2] - box[0]} ${box[3] - box[1]}`}
      preserveAspectRatio="xMidYMid meet"
      role="img"
      aria-label={t("The page at “{0}”", visible(own.map((word) => now.words[word]).join(" "), 60))}
    >
      {picture ? (
        <image href={picture} x={x0} y={y0} width={x1 - x0} height={y1 - y0} preserveAspectRatio="none" />
      ) : (
        seen.map((word) => {
          const [a, b, c, d] = boxOf(now, word);
          return (
            <text key={word} x={a} y={d - 0.2 * (d - b)} font-size={0.8 * (d - b)} textLength={c - a} lengthAdjust="spacingAndGlyphs">
              {visible(now.words[word] ?? "", 60)}
            </text>
          );
        })
      )}
      <rect x={left - 2} y={top - 2} width={right - left + 4} height={bottom - top + 4} />
    </svg>
  );
}

const focused = (input: HTMLInputElement | null) => {
  if (input && !input.dataset["seen"]) {
    input.dataset["seen"] = "yes";
    input.focus();
    input.select();
    input.closest(".editor")?.scrollIntoView({ block: "nearest" });
  }
};

function pressed(event: KeyboardEvent): void {
  const last = ways.value.length - 1;
  if (event.key === "Enter") takeWay();
  else if (event.key === "Escape") stopEditing();
  else if (event.key === "ArrowDown") choice.value = Math.min(choice.value + 1, last);
  else if (event.key === "ArrowUp") choice.value = Math.max(choice.value - 1, -1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function typed(text: string): void {
  draft.value = text;
  const was = editing.value?.words;
  // Nothing is chosen until something else is typed than what is there.
  choice.value = doc.value && (!was || text.trim() !== original()) ? 0 : -1;
}

function original(): string {
  const words = editing.value?.words;
  return words ? Array.from({ length: words[1] - words[0] }, (_, i) => wordText(words[0] + i)).filter(Boolean).join(" ") : "";
}

export function Editor() {
  const at = editing.value;
  if (!at) return null;
  return (
    <div class="editor">
      {at.words && <Crop words={at.words} />}
      <div class="write">
        <input
          ref={focused}
          aria-label={t("What it says on the page")}
          placeholder={t("what it says on the page")}
          value={draft.value}
          onInput={(event) => typed(event.currentTarget.value)}
          onKeyDown={pressed}
          autocomplete="off"
          spellcheck={false}
        />
        <button class="accept" onClick={() => takeWay()}>
          <kbd>↵</kbd> {t("Take")}
        </button>
        <button onClick={stopEditing}>
          <kbd>Esc</kbd>
        </button>
      </div>
      {ways.value.length > 0 && (
        <ul class="ways" aria-label={t("What can be meant")}>
          {ways.value.map((way, i) => (
            <li key={i}>
              <button class={i === choice.value ? "way chosen" : "way"} aria-current={i === choice.value ? "true" : undefined} onClick={() => takeWay(i)}>
                <span>{way.says}</span>
                {way.words && way.words !== at.words && <Crop words={way.words} />}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The button that begins it. */
export const EditButton = () => (
  <button onClick={startEditing}>
    <kbd>e</kbd> {t("put right")}
  </button>
);
