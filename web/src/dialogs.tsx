// Questions and help, in the browser's own modal dialog: it keeps the focus and gives it back.

import { h, type ComponentChildren } from "preact";
import { decide, keepNote, label } from "./actions";
import { chooseReviewer } from "./api";
import { Name } from "./fields";
import { KEYS } from "./keys";
import { goTo } from "./navigation";
import { absentShown, dialog, doc, draft, kinds, session, stops } from "./state";
import { named, t, visible } from "./text";

interface FrameProps {
  title: string;
  confirm?: string;
  onConfirm?: () => void;
  children: ComponentChildren;
}

/** Opened as modal when it is drawn first. */
const opened = (element: HTMLDialogElement | null) => {
  if (element && !element.open) element.showModal();
};

function close(): void {
  document.querySelector("dialog")?.close(); // gives the focus back
  dialog.value = null;
}

/** The browser tells of the end of a dialog later, when another one may be open. */
const closed = (event: Event) => {
  if ((event.currentTarget as HTMLElement).isConnected) dialog.value = null;
};

function Frame({ title, confirm, onConfirm, children }: FrameProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    onConfirm?.();
    close();
  };
  return (
    <dialog ref={opened} aria-labelledby="dialog-title" onCancel={close} onClose={closed}>
      <form onSubmit={submit}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        <p class="buttons">
          <button type="button" onClick={close}>
            {t(confirm ? "Cancel" : "Close")} <kbd>Esc</kbd>
          </button>
          {confirm && (
            <button type="submit" class="accept">
              {confirm}
            </button>
          )}
        </p>
      </form>
    </dialog>
  );
}

function Help() {
  return (
    <Frame title={t("Keys")}>
      <p class="quiet">
        {t("Look at the fields with a {0}, put right what is wrong, then accept. Whatever you say about a word is kept, and all else is decoded again around it.", "?")}
      </p>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        {t("✓ holds · ✗ violated · ○ not checked · ? look at this · ⚑ pinned by a person · ↷ changed just now")}
      </p>
      <p class="quiet">
        lawful {session.value?.version}, rules {visible(session.value?.rules.name ?? "", 60)}
      </p>
    </Frame>
  );
}

interface LineProps {
  name: string;
  hint?: string;
  longest?: number;
}

/** A line to write in; the draft is what is written. */
function Line({ name, hint, longest }: LineProps) {
  return (
    <input
      aria-label={name}
      autoFocus
      {...(hint ? { placeholder: hint } : {})}
      {...(longest ? { maxLength: longest } : {})}
      value={draft.value}
      onFocus={(event) => event.currentTarget.select()}
      onInput={(event) => (draft.value = event.currentTarget.value)}
    />
  );
}

function Note() {
  return (
    <Frame title={t("A note about this document")} confirm={t("Keep")} onConfirm={() => keepNote(draft.value)}>
      <textarea
        rows={4}
        aria-label={t("Note")}
        autoFocus
        value={draft.value}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.currentTarget.form?.requestSubmit();
          }
        }}
      />
      <p class="quiet">{t("Ctrl Enter keeps it.")}</p>
    </Frame>
  );
}

function Reviewer() {
  return (
    <Frame title={t("Who reviews?")} confirm={t("Keep")} onConfirm={() => chooseReviewer(draft.value.trim())}>
      <Line name={t("Your name")} longest={60} />
      <p class="quiet">{t("Your name is stored with all that you say about documents.")}</p>
    </Frame>
  );
}

/** Goes to the first value of a field, or to where it would be. */
function goToField(field: string): void {
  absentShown.value = true;
  const stop = stops.value.find((each) => each.field === field);
  if (stop) goTo(stop);
}

/** A field by a part of its name: those that begin with it come first. */
function PickField({ title, confirm, take }: { title: string; confirm: string; take: (field: string) => void }) {
  const part = draft.value.trim().toLowerCase().replace(/\s+/g, "_");
  const at = (name: string) => name.toLowerCase().indexOf(part);
  const fits = [...kinds.value.values()].filter((kind) => at(kind.name) >= 0);
  fits.sort((a, b) => Number(at(a.name) > 0) - Number(at(b.name) > 0));
  const first = fits[0];
  return (
    <Frame
      title={title}
      confirm={first ? `${confirm} ${visible(named(first.name), 40)}` : "–"}
      onConfirm={() => first && take(first.name)}
    >
      <Line name={t("Part of the field's name")} hint={t("part of the name")} />
      <div class="labels">
        {fits.slice(0, 60).map((kind) => (
          <button key={kind.name} type="button" onClick={() => (close(), take(kind.name))}>
            <Name kind={kind} />
          </button>
        ))}
      </div>
    </Frame>
  );
}

function Confirm({ unseen }: { unseen: string[] }) {
  const checks = (doc.value?.answer.checks ?? []).filter(
    (check) => check.state === "violated" && unseen.includes(check.id),
  );
  return (
    <Frame title={t("Accept although a rule is violated?")} confirm={t("Accept anyway")}
      onConfirm={() => decide("accepted", true)}>
      <ul>
        {checks.map((check, at) => (
          <li key={at} class="violated">
            ✗ {visible(check.said ?? check.message)} {check.sum && <small>{visible(check.sum)}</small>}
          </li>
        ))}
        {checks.length === 0 && <li class="violated">✗ {unseen.map((id) => visible(id, 60)).join(", ")}</li>}
      </ul>
      <p class="quiet">{t("If the page itself is wrong, accept it. If a field is, press Esc and put it right.")}</p>
    </Frame>
  );
}

export function Dialogs() {
  const which = dialog.value;
  if (which === null) return null;
  if (typeof which === "object") return <Confirm unseen={which.unseen} />;
  switch (which) {
    case "help":
      return <Help />;
    case "note":
      return <Note />;
    case "reviewer":
      return <Reviewer />;
    case "label":
      return <PickField title={t("What is it?")} confirm={t("It is")} take={label} />;
    case "field":
      return <PickField title={t("Go to a field")} confirm={t("Go to")} take={goToField} />;
  }
}
