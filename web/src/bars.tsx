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
import { count, t, VERDICTS, visible, type Text } from "./text";

export function TopBar() {
  const progress = queue.value?.progress;
  const done = progress ? progress.accepted + progress.rejected : 0;
  const reviewer = chosenReviewer() ?? session.value?.reviewer ?? "";
  return (
    <header>
      <h1 class="wide">lawful review</h1>
      <button aria-expanded={queueShown.value} onClick={() => (queueShown.value = !queueShown.value)}>
        {queueShown.value ? "▾" : "▸"} {t("Queue")}
      </button>
      {progress && (
        <div class="progress">
          <progress max={progress.documents} value={done} aria-label={t("documents done")} />
          <span>
            <b>{t("{0} of {1}", done, progress.documents)}</b> {t("done")}
            <span class="wide quiet">
              {" "}
              {t("({0} accepted, {1} rejected, {2} skipped); {3} to look at", progress.accepted, progress.rejected,
                progress.skipped, progress.open - progress.passing)}
            </span>
          </span>
        </div>
      )}
      <button class="who" title={t("Change your name")} onClick={() => openDialog("reviewer")}>
        {visible(reviewer, 24) || t("your name")}
      </button>
      <Key name="?" run={() => openDialog("help")}>
        {t("Help")}
      </Key>
    </header>
  );
}

const STATUS: Record<string, Text> = {
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
        <button class="quiet" aria-label={t("Previous document")} title={t("Previous (p)")} onClick={() => step(-1)}>
          ◂
        </button>
        <h2 class="id">
          <bdi>{visible(now.id, 80)}</bdi>
        </h2>
        <button class="quiet" aria-label={t("Next document")} title={t("Next (n)")} onClick={() => step(1)}>
          ▸
        </button>
        <span class={`badge ${status}`}>{STATUS[status] ? t(STATUS[status]) : status}</span>
        {now.verdict && (
          <span class="badge verdict">
            {t(VERDICTS[now.verdict])}
            {now.reviewer && ` ${t("by {0}", visible(now.reviewer, 24))}`}
          </span>
        )}
      </div>
      {now.entry.heading.some(Boolean) && (
        <p class="heading">{now.entry.heading.filter(Boolean).map((each) => visible(each, 60)).join(" · ")}</p>
      )}
      <p class="summary">{visible(summary, 500)}</p>
      {now.note && <p class="note">{t("Note: {0}", visible(now.note, 500))}</p>}
    </div>
  );
}

/** What the selected words are, and what they can be. */
export function Palette() {
  const [now, words] = [doc.value, selected.value];
  const more = ruleSet.value?.fields.some((kind) => !kind.key);
  return (
    <div class="palette" role="toolbar" aria-label={t("What the selected words are")}>
      <p>
        {now && words ? (
          <>
            <b>
              <bdi>“{visible(textAt(now, words), 60)}”</bdi>
            </b>{" "}
            {t("is …")}
          </>
        ) : (
          <span class="quiet">{t("Click words, drag over them, or Shift-click to select several.")}</span>
        )}
        <span class="tools">
          <button title={t("Smaller (-)")} aria-label={t("Zoom out")} onClick={() => scale(1 / 1.25)}>
            −
          </button>
          <button title={t("Larger (+)")} aria-label={t("Zoom in")} onClick={() => scale(1.25)}>
            +
          </button>
          <button
            aria-pressed={boxesShown.value}
            title={t("Show or hide the boxes (h)")}
            onClick={() => (boxesShown.value = !boxesShown.value)}
          >
            <kbd>h</kbd> {t("boxes")}
          </button>
        </span>
      </p>
      {editing.value && editing.value.field === null && <Editor />}
      <div class={words ? "labels" : "labels idle"}>
        <LabelButtons />
        {more && (
          <Key name="l" run={() => openDialog("label")}>
            {t("other …")}
          </Key>
        )}
        <EditButton />
        <Key name="u" run={unpin}>
          {t("unpin")}
        </Key>
        <button class="touch" onClick={() => moveSelection(1, true)}>
          {t("+ word")}
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
        <button disabled={!now?.undo} aria-label={t("Undo")} title={t("Undo (Ctrl-Z)")} onClick={() => undoOrRedo("undo")}>
          ↶ <span class="wide">{t("Undo")}</span>
        </button>
        <button disabled={!now?.redo} aria-label={t("Redo")} title={t("Redo (Ctrl-Shift-Z)")} onClick={() => undoOrRedo("redo")}>
          ↷ <span class="wide">{t("Redo")}</span>
        </button>
        <Key name="c" run={() => openDialog("note")}>
          {t("Note")}
        </Key>
        <Key name="s" run={() => decide("skipped")}>
          {t("Skip")}
        </Key>
        <Key name="r" style="reject" run={() => decide("rejected")}>
          ✗ {t("Reject")}
        </Key>
        <Key name="a" style="accept" run={() => decide("accepted")}>
          ✓ {t("Accept")}
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
            {locked.value
              ? t("✗ lawful review was started again. Paste the new address that it printed into this tab.")
              : t("✗ No connection to lawful review.")}{" "}
            {waiting.value.length
              ? t("Nothing is lost: {0} of yours will be sent.", count(waiting.value.length, "change"))
              : t("Nothing is lost.")}
          </span>
          <button onClick={() => void retry()}>
            {t("Try now")}
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
          <button aria-label={t("Close this message")} onClick={() => (notice.value = null)}>
            ×
          </button>
        </div>
      )}
    </div>
  );
}
