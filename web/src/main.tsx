// The review page: starts it, and puts its parts together.

import { Fragment, h, render } from "preact";
import { getSession, takeToken } from "./api";
import { BottomBar, Head, Messages, Palette, TopBar } from "./bars";
import { send } from "./changes";
import { retry, trouble, whenBack } from "./connection";
import { Dialogs } from "./dialogs";
import { AlternativeList, Checks, Corrections, Pins, Stale } from "./facts";
import { FieldList } from "./fields";
import { listen } from "./keys";
import { clock, keepFocus, loadQueue, open, openWanted } from "./navigation";
import { Pages, watchSelection } from "./page";
import { watchSheets } from "./pictures";
import { QueueList, watchQueueList } from "./queue";
import { afterDrawing, always } from "./signals";
import { speak, t } from "./text";
import { doc, entries, failure, locked, offline, queue, session, waiting } from "./state";

const SOON = 2000; // milliseconds between looks at the queue, while documents are decoded
const LATER = 20000; // and after that: other reviewers work on it, too

function App() {
  if (failure.value) return <p class="failure">✗ {failure.value}</p>;
  if (!session.value || !queue.value) {
    return <p class="failure">{offline.value ? t("✗ No connection. Trying again …") : "…"}</p>;
  }
  return (
    <>
      <TopBar />
      <QueueList />
      <main>
        <div class="left">
          <Pages />
          <Palette />
        </div>
        <div class="right">
          <Head />
          <div class="facts">
            <Stale />
            <FieldList />
            <Checks />
            <Corrections />
            <AlternativeList />
            <Pins />
            {!doc.value && <p class="quiet">{t("Choose a document from the queue.")}</p>}
          </div>
        </div>
      </main>
      <Messages />
      <BottomBar />
      <Dialogs />
    </>
  );
}

const pause = (time: number) => new Promise((done) => setTimeout(done, time));

const isDecoding = () =>
  (queue.value?.reading || queue.value?.teaching?.busy || queue.value?.documents.some((entry) => entry.status === null && !entry.error)) &&
  !queue.value.failure;

async function watchQueue(): Promise<void> {
  await pause(isDecoding() ? SOON : LATER);
  if (!offline.value && !locked.value && !document.hidden) {
    await loadQueue();
    if (!doc.value) await openFirst(); // nothing had been read yet
  }
  void watchQueue();
}

/** Opens the document that the address names, or the worst open one. */
async function begin(): Promise<void> {
  await loadQueue();
  // Which one is the worst is known when all are decoded; a reviewer waits two seconds for that.
  for (let wait = 0; wait < 10 && isDecoding(); wait++) {
    await pause(200);
    await loadQueue();
  }
  await openFirst();
}

async function openFirst(): Promise<void> {
  const named = /^#(\d+)$/.exec(location.hash)?.[1];
  const worst = entries.value.find((entry) => !entry.error) ?? queue.value?.documents.find((entry) => !entry.error);
  const first = named === undefined ? worst?.n : Number(named);
  if (queue.value?.documents.some((entry) => entry.n === first)) await open(first as number);
}

async function start(): Promise<void> {
  takeToken();
  speak(navigator.languages);
  const root = document.getElementById("app") as HTMLElement;
  always(() => render(<App />, root));
  watchSheets();
  watchSelection();
  watchQueueList();
  afterDrawing(() => doc.value, keepFocus);
  listen();
  document.addEventListener("visibilitychange", () => clock.pause());
  window.addEventListener("beforeunload", (event) => {
    if (waiting.value.length) event.preventDefault();
  });
  window.addEventListener("hashchange", () => {
    if (takeToken()) void retry();
  });
  whenBack(() => {
    void send();
    if (doc.value) void loadQueue().then(openWanted);
    else void begin();
  });
  try {
    session.value = await getSession();
    if (session.value.language) speak([session.value.language]);
    await begin();
  } catch (error) {
    trouble(error);
  }
  void watchQueue();
}

void start();
