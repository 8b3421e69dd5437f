// Words without boxes, as running text.

import { Fragment, h } from "preact";
import { heights } from "./pictures";
import type { Sheet } from "./sheets";
import { doc, kinds, labelName, lit, moved, pinnedWords, selected, valueAt, wordText } from "./state";
import { t, visible } from "./text";

const LINE = 30; // pixels, with about eight words

/** Keeps its height when it is far away and not drawn. */
export function Flow({ at, sheet, drawn }: { at: number; sheet: Sheet; drawn: boolean }) {
  const height = heights.get(at) ?? Math.ceil(sheet.words.length / 8) * LINE;
  return (
    <p class="flow" style={{ minHeight: drawn ? "" : `${height}px` }}>
      {drawn && sheet.words.map((word) => <Word key={word} word={word} />)}
    </p>
  );
}

function Word({ word }: { word: number }) {
  const stop = valueAt.value.get(word);
  const range = selected.value;
  const move = moved.value.get(word);
  const inside = (words: readonly [number, number]) => word >= words[0] && word < words[1];
  const style = [
    "word",
    stop && `field c${kinds.value.get(stop.field)?.colour}`,
    stop && word === stop.value?.words[0] && "first",
    range && inside(range) && "selected",
    lit.value.some(inside) && "lit",
    pinnedWords.value.has(word) && "pinned",
    move && "moved",
    doc.value && word in doc.value.texts && "corrected",
  ];
  const last = stop?.value && word === stop.value.words[1] - 1;
  const joined = doc.value?.joins?.[word];
  return (
    <>
      {joined ? "" : " "}
      <span data-word={word} class={style.filter(Boolean).join(" ")}>
        <bdi>{visible(wordText(word))}</bdi>
        {(last || (move && !stop)) && (
          <small>
            {pinnedWords.value.has(word) && "⚑ "}
            {move && <del>{labelName(move.old)}</del>}
            {move && " ↷ "}
            {stop ? visible(stop.field, 40) : t("no field")}
          </small>
        )}
      </span>
    </>
  );
}
