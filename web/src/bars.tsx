// The bar on top (where one is) and the bar below (what one can do next).

import { Fragment, h } from "preact";
import { decide, moveSelection, openDialog, scale, undoOrRedo, unpin } from "./actions";
import { chosenReviewer } from "./api";
import { retry } from "./connection";
import { EditButton, Editor } from "./editor";
import { LabelButtons } from "./fields";
import { step } from "./navigation";
import { Key } from "./parts";
import { textAt } from "./pins";
import {
  boxesShown,
  doc,
  editing,
  live,
  notice,
  locked,
  offline,
  queue,
  queueShown,
  ruleSet,
  selected,
  session,
  waiting,
} from "./state";
import { count, VERDICTS, visible } from "./text";

export function TopBar() {
  const progress = queue.value?.progress;
  const done = progress ? progress.accepted + progress.rejected : 0;
  const reviewer = chosenReviewer() ?? session.value?.reviewer ?? "";
  return (
    <header>
      <h1 class="wide">lawful review</h1>
      <button aria-expanded={queueShown.value} onClick={() => (queueShown.value = !queueShown.value)}>
        {queueShown.value ? "▾" : "▸"} Queue
      </button>
      {progress && (
        <div class="progress">
          <progress max={progress.documents} value={done} aria-label="documents done" />
          <span>
            <b>
              {done} of {progress.documents}
            </b>{" "}
            done
            <span class="wide quiet">
              {" "}({progress.accepted} accepted, {progress.rejected} rejected, {progress.skipped} skipped);{" "}
              {progress.open - progress.passing} to look at
            </span>
          </span>
        </div>
      )}
      <button class="who" title="Change your name" onClick={() => openDialog("reviewer")}>
        {visible(reviewer, 24) || "your name"}
      </button>
      <Key name="?" run={() => openDialog("help")}>
        Help
      </Key>
    </header>
  );
}

const STATUS: Record<string, string> = {
  satisfied: "rules hold",
  unchecked: "not checked",
  relaxed: "a rule is violated",
  infeasible: "impossible",
  exhausted: "not proven",
};

export function Head() {
  const now = doc.value;
  if (!now) return null;
  const { status, summary } = now.answer;
  return (
    <div class="head">
      <div class="title">
        <button class="quiet" aria-label="Previous document" title="Previous (p)" onClick={() => step(-1)}>
          ◂
        </button>
        <h2 class="id">
          <bdi>{visible(now.id, 80)}</bdi>
        </h2>
        <button class="quiet" aria-label="Next document" title="Next (n)" onClick={() => step(1)}>
          ▸
        </button>
        <span class={`badge ${status}`}>{STATUS[status] ?? status}</span>
        {now.verdict && (
          <span class="badge verdict">
            {VERDICTS[now.verdict]}
            {now.reviewer && ` by ${visible(now.reviewer, 24)}`}
          </span>
        )}
      </div>
      {now.entry.heading.some(Boolean) && (
        <p class="heading">{now.entry.heading.filter(Boolean).map((each) => visible(each, 60)).join(" · ")}</p>
      )}
      <p class="summary">{visible(summary, 500)}</p>
      {now.note && <p class="note">Note: {visible(now.note, 500)}</p>}
    </div>
  );
}

/** What the selected words are, and what they can be. */
export function Palette() {
  const [now, words] = [doc.value, selected.value];
  const more = ruleSet.value?.fields.some((kind) => !kind.key);
  return (
    <div class="palette" role="toolbar" aria-label="What the selected words are">
      <p>
        {now && words ? (
          <>
            <b>
              <bdi>“{visible(textAt(now, words), 60)}”</bdi>
            </b>{" "}
            is …
          </>
        ) : (
          <span class="quiet">Click words, drag over them, or Shift-click to select several.</span>
        )}
        <span class="tools">
          <button title="Smaller (-)" aria-label="Zoom out" onClick={() => scale(1 / 1.25)}>
            −
          </button>
          <button title="Larger (+)" aria-label="Zoom in" onClick={() => scale(1.25)}>
            +
          </button>
          <button
            aria-pressed={boxesShown.value}
            title="Show or hide the boxes (h)"
            onClick={() => (boxesShown.value = !boxesShown.value)}
          >
            <kbd>h</kbd> boxes
          </button>
        </span>
      </p>
      {editing.value && editing.value.field === null && <Editor />}
      <div class={words ? "labels" : "labels idle"}>
        <LabelButtons />
        {more && (
          <Key name="l" run={() => openDialog("label")}>
            other …
          </Key>
        )}
        <EditButton />
        <Key name="u" run={unpin}>
          unpin
        </Key>
        <button class="touch" onClick={() => moveSelection(1, true)}>
          + word
        </button>
      </div>
    </div>
  );
}

/** The last thing that happened, and the verdict. */
export function BottomBar() {
  const now = doc.value;
  return (
    <footer>
      <p class="live" role="status" aria-live="polite">
        {live.value}
      </p>
      <div class="verdicts">
        <button disabled={!now?.undo} aria-label="Undo" title="Undo (Ctrl-Z)" onClick={() => undoOrRedo("undo")}>
          ↶ <span class="wide">Undo</span>
        </button>
        <button disabled={!now?.redo} aria-label="Redo" title="Redo (Ctrl-Shift-Z)" onClick={() => undoOrRedo("redo")}>
          ↷ <span class="wide">Redo</span>
        </button>
        <Key name="c" run={() => openDialog("note")}>
          Note
        </Key>
        <Key name="s" run={() => decide("skipped")}>
          Skip
        </Key>
        <Key name="r" style="reject" run={() => decide("rejected")}>
          ✗ Reject
        </Key>
        <Key name="a" style="accept" run={() => decide("accepted")}>
          ✓ Accept
        </Key>
      </div>
    </footer>
  );
}

export function Messages() {
  const said = notice.value;
  return (
    <div class="messages">
      {(offline.value || locked.value) && (
        <div class="message bad" role="alert">
          <span>
            {locked.value ? (
              <>✗ <code>lawful review</code> was started again. Paste the new address that it printed into this tab.</>
            ) : (
              <>✗ No connection to <code>lawful review</code>.</>
            )}{" "}
            Nothing is lost
            {waiting.value.length ? `: ${count(waiting.value.length, "change")} of yours will be sent` : ""}
            {locked.value ? " then." : " when it is back."}
          </span>
          <button onClick={() => void retry()}>
            Try now
          </button>
        </div>
      )}
      {said && (
        <div class={`message ${said.kind}`} role={said.kind === "good" ? undefined : "alert"}>
          <span>{said.text}</span>
          {said.action && (
            <button onClick={() => ((notice.value = null), said.action?.run())}>
              {said.action.name}
            </button>
          )}
          <button aria-label="Close this message" onClick={() => (notice.value = null)}>
            ×
          </button>
        </div>
      )}
    </div>
  );
}
