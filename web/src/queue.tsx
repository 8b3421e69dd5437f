// The queue, worst first: only the rows in view are drawn.

import { h } from "preact";
import { signal } from "./signals";
import type { Entry } from "./api";
import { acceptAll } from "./actions";
import { open } from "./navigation";
import { afterDrawing } from "./signals";
import { doc, entries, filter, FILTERS, looks, queue, queueShown, search, session } from "./state";
import { count, t, VERDICTS, visible, type Text } from "./text";

const HEIGHT = 30; // pixels of a row, as in the style sheet
const AROUND = 8;

const top = signal(0);

function reason(entry: Entry): [style: string, text: string] {
  if (entry.error) return ["violated", `✗ ${entry.error}`];
  if (entry.status === null) return ["quiet", t("… not decoded yet")];
  const text = entry.reasons.join("; ");
  if (entry.violated.length || entry.status === "infeasible") return ["violated", `✗ ${text}`];
  if (text) return ["relaxed", `? ${text}`];
  // Of the open document, the page knows more.
  const look = doc.value?.n === entry.n ? looks.value.size : 0;
  if (look) return ["relaxed", `? ${t("{0} to look at", count(look, "value"))}`];
  return ["satisfied", t(entry.pins ? "✓ no rule is broken" : "✓ nothing to look at")];
}

function Row({ entry }: { entry: Entry }) {
  const [style, text] = reason(entry);
  const now = doc.value?.n === entry.n;
  const named = (entry.heading ?? []).filter(Boolean).map((each) => visible(each, 40)).join(" · ");
  return (
    <button
      class={now ? "row current" : "row"}
      aria-current={now ? "true" : undefined}
      tabIndex={now ? 0 : -1}
      disabled={Boolean(entry.error)}
      onClick={() => void open(entry.n)}
    >
      <bdi class="what" title={visible(entry.id, 200)}>
        {named || visible(entry.id ?? t("Document {0}", entry.n + 1), 60)}
      </bdi>
      <span class={`why ${style}`}>{visible(text, 160)}</span>
      <span class="size id">{named ? visible(entry.id, 60) : ""}</span>
      <span class="verdict">
        {entry.verdict ? t(VERDICTS[entry.verdict]) : entry.pins ? `⚑ ${entry.pins}` : ""}
        {entry.verdict && entry.reviewer ? ` ${t("by {0}", visible(entry.reviewer, 20))}` : ""}
      </span>
    </button>
  );
}

/** Keeps the document that is open in view. */
export function watchQueueList(): void {
  afterDrawing(
    () => (queueShown.value ? entries.value.findIndex((entry) => entry.n === doc.value?.n) : -1),
    (at) => {
      const list = document.querySelector(".list");
      const y = at * HEIGHT;
      if (!list || at < 0) return;
      if (y < list.scrollTop || y + HEIGHT > list.scrollTop + list.clientHeight) {
        list.scrollTop = y - HEIGHT;
      }
    },
  );
}

/** Those that ask for no look, apart from the others, to be accepted together. */
function Passing() {
  const progress = queue.value?.progress;
  if (!progress?.passing) return null;
  const why = session.value?.promise ?? t("rules hold, and the model is sure of every value that is needed; nothing is promised");
  return (
    <p class="passing">
      <span>
        <b class="satisfied">✓ {count(progress.passing, "document")}</b> {t("with nothing to look at")}{" "}
        <small>({visible(why, 160)})</small>
      </span>
      <button class="accept" onClick={() => void acceptAll()}>
        {t("Accept all {0}", progress.passing)}
      </button>
    </p>
  );
}

/** What the model has learned from what was accepted, and how good it is on what it has not seen. */
function Learned() {
  const teaching = queue.value?.teaching;
  if (!teaching) return null;
  const { documents, right, of, leads, busy, failure } = teaching;
  return (
    <p class="learned">
      {documents === 0
        ? t("Learns from what you accept.")
        : t(busy ? "Learned from {0}, learning …" : "Learned from {0}.", count(documents, "document"))}{" "}
      {of > 0 && t("Of the last {0} accepted, {1} right before it learned from them.", of, right)}{" "}
      {documents > 0 && !leads && !busy && t("The model it began with is still better, so its answers are shown.")}
      {failure && <b class="violated"> ✗ {visible(failure, 200)}</b>}
    </p>
  );
}

export function QueueList() {
  if (!queueShown.value) return null;
  const list = entries.value;
  const first = Math.max(Math.floor(top.value / HEIGHT) - AROUND, 0);
  const seen = list.slice(first, first + 2 * AROUND + 8);
  const all = queue.value?.documents ?? [];
  const reading = queue.value?.reading;
  const still = all.filter((entry) => entry.status === null && !entry.error).length;
  const unreadable = all.filter((entry) => entry.error).length;
  return (
    <nav class="queue" aria-label={t("Documents, by what a look is worth")}>
      <div class="filters">
        <label>
          {t("Show")}{" "}
          <select value={filter.value} onChange={(event) => (filter.value = event.currentTarget.value)}>
            {Object.entries(FILTERS).map(([name, fits]) => (
              <option key={name} value={name}>
                {t(name as Text)} ({queue.value?.documents.filter(fits).length ?? 0})
              </option>
            ))}
          </select>
        </label>
        <label>
          {t("Find")}{" "}
          <input
            type="search"
            placeholder={t("shop, date, total, id")}
            value={search.value}
            onInput={(event) => (search.value = event.currentTarget.value)}
          />
        </label>
        <span class="quiet">
          {queue.value?.failure && <b class="violated">✗ {visible(queue.value.failure, 200)} </b>}
          {t("{0}, by what a look is worth", count(list.length, "document"))}
          {reading && `; ${t("reading, {0} so far", reading.of === null ? reading.done : t("{0} of {1}", reading.done, reading.of))}`}
          {still > 0 ? `; ${t("{0} still to decode", count(still, "document"))}` : ""}
          {unreadable > 0 && <b class="violated">; ✗ {t("{0} could not be read", count(unreadable, "line"))}</b>}
        </span>
      </div>
      <Learned />
      <Passing />
      <div class="list" onScroll={(event) => (top.value = event.currentTarget.scrollTop)}>
        <div style={{ height: `${list.length * HEIGHT}px` }}>
          <div style={{ transform: `translateY(${first * HEIGHT}px)` }}>
            {seen.map((entry) => (
              <Row key={entry.n} entry={entry} />
            ))}
          </div>
        </div>
        {list.length === 0 && <p class="quiet">{t("No document is in this list.")}</p>}
      </div>
    </nav>
  );
}
