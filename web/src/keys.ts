// The keyboard: one key per action, and the table of them that the help shows.

import {
  absent,
  decide,
  label,
  moveLine,
  moveSelection,
  nextChoice,
  openDialog,
  scale,
  undoOrRedo,
  unpin,
} from "./actions";
import { goTo, step } from "./navigation";
import { startEditing } from "./editing";
import { boxesShown, current, dialog, kinds, lit, live, proposal, selection, stops } from "./state";

import { t, type Text } from "./text";

export const KEYS: [keys: string, what: Text][] = [
  ["Tab Shift-Tab", "next, previous value to look at"],
  ["j k", "next, previous field"],
  ["← → ↑ ↓", "other words; with Shift, several words"],
  ["1 … 9", "the selected words are this field"],
  ["l", "the selected words are another field"],
  ["/", "go to a field, by a part of its name"],
  ["0", "they are nothing"],
  ["x", "the current field is not on the page"],
  ["e", "put the value right, or its text"],
  ["Enter", "next alternative of the current field; take it"],
  ["u", "unpin"],
  ["Ctrl-Z", "undo"],
  ["Ctrl-Shift-Z", "redo"],
  ["a", "accept"],
  ["r", "reject"],
  ["s", "skip"],
  ["c", "write a note"],
  ["n p", "next, previous document"],
  ["h", "hide or show the boxes"],
  ["+ -", "larger, smaller"],
  ["?", "this help"],
];

function stepField(by: 1 | -1): void {
  const list = stops.value;
  const now = current.value;
  const at = list.findIndex((stop) => stop.field === now?.field && stop.index === now.index);
  const next = at < 0 ? list[by > 0 ? 0 : list.length - 1] : list[at + by];
  if (next) goTo(next);
}

const PLAIN: Record<string, () => void> = {
  j: () => stepField(1),
  k: () => stepField(-1),
  "0": () => label(null),
  l: () => openDialog("label"),
  x: absent,
  e: startEditing,
  "/": () => openDialog("field"),
  u: unpin,
  a: () => decide("accepted"),
  r: () => decide("rejected"),
  s: () => decide("skipped"),
  c: () => openDialog("note"),
  n: () => step(1),
  p: () => step(-1),
  h: () => (boxesShown.value = !boxesShown.value),
  "+": () => scale(1.25),
  "-": () => scale(1 / 1.25),
  "?": () => openDialog("help"),
};

function arrow(event: KeyboardEvent): boolean {
  const onPage = document.activeElement?.classList.contains("pages") ?? false;
  const onField = document.activeElement?.classList.contains("value") ?? false;
  if (!onPage && !onField) return false;
  const extend = event.shiftKey;
  switch (event.key) {
    case "ArrowRight":
      moveSelection(1, extend);
      return true;
    case "ArrowLeft":
      moveSelection(-1, extend);
      return true;
    case "ArrowDown":
    case "ArrowUp": {
      const by = event.key === "ArrowDown" ? 1 : -1;
      if (onField && !extend) stepField(by);
      else moveLine(by, extend);
      return true;
    }
  }
  return false;
}

function pressed(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (dialog.value !== null || event.altKey || event.isComposing) return false;
  if (target.closest("input, textarea, select")) {
    if (event.key === "Escape" && target.closest("nav")) target.blur();
    return false;
  }
  if (event.ctrlKey || event.metaKey) {
    const key = event.key.toLowerCase();
    if (key !== "z" && !(key === "y" && !event.shiftKey)) return false;
    undoOrRedo(key === "y" || event.shiftKey ? "redo" : "undo");
    return true;
  }
  if (event.key === "Enter") {
    // On other buttons, Enter does what buttons do.
    if (target.closest("button:not(.value)")) return false;
    if (proposal.value) proposal.value.take();
    else nextChoice();
    return true;
  }
  if (event.key === "Escape" && proposal.value) {
    [proposal.value, live.value] = [null, t("Nothing was changed.")];
    return true;
  }
  if (event.key === "Escape") {
    [selection.value, lit.value] = [null, []];
    return true;
  }
  if (arrow(event)) return true;
  const kind = [...kinds.value.values()].find((each) => each.key === event.key);
  const act = kind ? () => label(kind.name) : PLAIN[event.key];
  act?.();
  return act !== undefined;
}

/** Listens to all keys of the page. */
export function listen(): void {
  document.addEventListener("keydown", (event) => {
    if (pressed(event)) event.preventDefault();
  });
}
