// A page with boxes: words, the marks of fields, the light on what is selected.

import { computed } from "./signals";
import { Fragment, h, type VNode } from "preact";
import type { Doc } from "./api";
import { boxOf, linesOf, widths, type Box, type Sheet, type View } from "./sheets";
import {
  doc,
  kinds,
  labelName,
  lit,
  moved,
  paneWidth,
  pinnedWords,
  selected,
  stops,
  wordText,
  zoom,
} from "./state";
import { named, t, visible } from "./text";

const fieldName = (field: string) => visible(named(field), 40);

const SMALLEST = 10; // pixels, the size of captions

interface Props {
  sheet: Sheet;
  view: View;
  picture: string | undefined;
}

// Answers come as new objects; the texts of the words hardly ever change.
const texts = computed(() => JSON.stringify(doc.value?.texts));
const made = new WeakMap<Sheet, { key: string; words: VNode }>();

/** The words of a sheet: the same node as before, which is not compared, if they look the same. */
function wordsOf(sheet: Sheet, plain: boolean): VNode {
  const key = `${plain} ${texts.value}`;
  let found = made.get(sheet);
  if (found?.key !== key) made.set(sheet, (found = { key, words: <Words sheet={sheet} plain={plain} /> }));
  return found.words;
}

export function Drawing({ sheet, view, picture }: Props) {
  const [x0, y0, x1, y1] = view.box;
  return (
    <>
      {picture && (
        <image href={picture} x={x0} y={y0} width={x1 - x0} height={y1 - y0} preserveAspectRatio="none" />
      )}
      <Marks sheet={sheet} />
      {wordsOf(sheet, Boolean(picture))}
      <Lights sheet={sheet} />
      <Captions sheet={sheet} view={view} />
    </>
  );
}

function Words({ sheet, plain }: { sheet: Sheet; plain: boolean }) {
  const now = doc.value;
  if (!now) return null;
  return (
    <g>
      {sheet.words.map((word) => {
        const box = boxOf(now, word);
        const corrected = word in now.texts;
        return (
          <g key={word} data-word={word} class={corrected ? "word corrected" : "word"}>
            <rect {...rectangle(box)} />
            {!plain && <Text text={visible(wordText(word), 200)} box={box} />}
          </g>
        );
      })}
    </g>
  );
}

/** A text fitted into its box. */
function Text({ text, box: [x0, y0, x1, y1] }: { text: string; box: Box }) {
  if (!text.trim()) return null;
  let letters = 0;
  for (const letter of text) letters += letter > "\u2e80" ? 1 : 0.6;
  const size = Math.min(0.8 * (y1 - y0), (2 * (x1 - x0)) / letters) || 16;
  // Single letters, and texts far shorter than their box, are not stretched out of shape.
  const length = Math.min(x1 - x0, (text.length > 1 ? 1.4 : 1) * size * letters);
  return (
    <text
      x={x0}
      y={y1 - 0.2 * (y1 - y0)}
      font-size={size}
      {...(length > 0 ? { textLength: length, lengthAdjust: "spacingAndGlyphs" } : {})}
    >
      {text}
    </text>
  );
}

const rectangle = ([x0, y0, x1, y1]: Box, margin = 0) => ({
  x: x0 - margin,
  y: y0 - margin,
  width: Math.max(x1 - x0, 0) + 2 * margin,
  height: Math.max(y1 - y0, 0) + 2 * margin,
});

const here = (sheet: Sheet, [start, end]: readonly [number, number]): number[] => {
  const [first, last] = [sheet.words[0] ?? 0, sheet.words.at(-1) ?? -1];
  if (end <= first || start > last) return [];
  const pages = doc.value?.pages;
  const words = Array.from({ length: end - start }, (_, i) => start + i);
  return words.filter((word) => !pages || pages[word] === sheet.page);
};

/** The spans of fields on a sheet, with their lines. */
function spansOn(now: Doc, sheet: Sheet) {
  return stops.value.flatMap((stop) => {
    if (!stop.value) return [];
    const words = here(sheet, stop.value.words);
    return words.length ? [{ stop, words, lines: linesOf(now, words) }] : [];
  });
}

function Marks({ sheet }: { sheet: Sheet }) {
  const now = doc.value;
  if (!now) return null;
  const changed = sheet.words.filter((word) => moved.value.has(word));
  const pinned = sheet.words.filter((word) => pinnedWords.value.has(word));
  return (
    <g class="marks">
      {spansOn(now, sheet).map(({ stop, lines }) => (
        <g key={`${stop.field}/${stop.index}`} class={`field c${kinds.value.get(stop.field)?.colour}`}>
          {lines.map((box, i) => (
            <rect key={i} {...rectangle(box, 1.5)} />
          ))}
        </g>
      ))}
      <g class="pinned">
        {linesOf(now, pinned).map((box, i) => (
          <rect key={i} {...rectangle(box, 2)} />
        ))}
      </g>
      <g class="moved">
        {changed.map((word) => (
          <rect key={word} {...rectangle(boxOf(now, word), 3)} />
        ))}
      </g>
    </g>
  );
}

const meet = (a: Box, b: Box) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/**
 * Where a caption is: before its words, above, after or below them, wherever it covers neither
 * print nor another caption; nowhere, if it would.
 */
function place([x0, y0, x1, y1]: Box, text: string, size: number, { box }: View, taken: Box[]): Box | null {
  const [width, middle] = [0.62 * size * text.length, (y0 + y1) / 2];
  const beside = [middle - 0.5 * size, middle + 0.5 * size] as const;
  const ways: Box[] = [
    [x0 - width - 0.5 * size, beside[0], x0 - 0.5 * size, beside[1]],
    [x0, y0 - 1.1 * size, x0 + width, y0 - 0.1 * size],
    [x1 + 0.5 * size, beside[0], x1 + width + 0.5 * size, beside[1]],
    [x0, y1 + 0.1 * size, x0 + width, y1 + 1.1 * size],
  ];
  const free = ways.find(
    (way) => way[0] >= box[0] && way[2] <= box[2] && way[1] >= box[1] && !taken.some((other) => meet(way, other)),
  );
  if (free) taken.push(free);
  return free ?? null;
}

const written = ([x0, , , y1]: Box, size: number) => ({ x: x0, y: y1 - 0.18 * size });

/** The names of fields at their first words, with signs: a flag for pins, an arrow for moves. */
function Captions({ sheet, view }: { sheet: Sheet; view: View }) {
  const now = doc.value;
  if (!now) return null;
  // Half as high as words, but not too small to read.
  const [largest, smallest] = widths(view);
  const width = zoom.value * Math.max(smallest, Math.min(paneWidth.value, largest));
  const size = Math.max(view.height * 0.5, (SMALLEST * (view.box[2] - view.box[0])) / width);
  const taken = sheet.words.map((word) => boxOf(now, word));
  const spans = spansOn(now, sheet);
  const named = new Set(spans.flatMap(({ words }) => words));
  const gone = sheet.words.filter((word) => moved.value.has(word) && !named.has(word));
  const reads = sheet.words.filter((word) => now.texts[word] && !named.has(word));
  return (
    <g class="captions" font-size={size}>
      {spans.map(({ stop, words, lines }) => {
        const first = lines[0];
        const move = words.map((word) => moved.value.get(word)).find(Boolean);
        const pin = words.some((word) => pinnedWords.value.has(word)) ? "⚑ " : "";
        const read = words.some((word) => word in now.texts)
          ? ` “${visible(words.map((word) => wordText(word)).filter(Boolean).join(" "), 40)}”`
          : "";
        const old = move ? labelName(move.old) : "";
        let name = fieldName(stop.field) + read;
        const fit = () => first && place(first, pin + old + name + (move ? " ↷ " : ""), size, view, taken);
        let at = fit();
        if (!at && read) {
          name = fieldName(stop.field);
          at = fit();
        }
        return (
          at && (
            <text key={`${stop.field}/${stop.index}`} {...written(at, size)}>
              {pin}
              {move && <tspan class="old">{old}</tspan>}
              {move && " ↷ "}
              {name}
            </text>
          )
        );
      })}
      {gone.map((word) => {
        const old = labelName(moved.value.get(word)?.old ?? "O");
        const at = place(boxOf(now, word), `${old} ↷ no field`, size, view, taken);
        return (
          at && (
            <text key={word} {...written(at, size)}>
              <tspan class="old">{old}</tspan>{t(" ↷ no field")}
            </text>
          )
        );
      })}
      {reads.map((word) => {
        const text = `“${visible(wordText(word), 40)}”`;
        const at = place(boxOf(now, word), text, size, view, taken);
        return at && <text key={`reads ${word}`} {...written(at, size)}>{text}</text>;
      })}
    </g>
  );
}

function Lights({ sheet }: { sheet: Sheet }) {
  const now = doc.value;
  if (!now) return null;
  const words = selected.value ? linesOf(now, here(sheet, selected.value)) : [];
  const read = lit.value.flatMap((range) => linesOf(now, here(sheet, range)));
  return (
    <g class="lights">
      {read.map((box, i) => (
        <rect key={`lit ${i}`} class="lit" {...rectangle(box, 3)} />
      ))}
      {words.map((box, i) => (
        <rect key={i} class="selected" {...rectangle(box, 3)} />
      ))}
    </g>
  );
}
