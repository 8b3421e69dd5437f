// The fields of the document, and its rows as tables.

import { Fragment, h } from "preact";
import { absent, choices, label, nextChoice } from "./actions";
import type { FieldKind } from "./api";
import { arrive, goTo } from "./navigation";
import { Editor } from "./editor";
import { Key, Section } from "./parts";
import { same } from "./pins";
import {
  absentShown,
  current,
  doc,
  editing,
  folded,
  isLook,
  isLow,
  isPinned,
  kinds,
  moved,
  others,
  proposal,
  selected,
  single,
  stopId,
  tables,
  type Stop,
  type Table,
} from "./state";
import { count, named, percent, t, visible } from "./text";

/** The current field, as long as its words are the selected ones. */
const isCurrent = ({ field, index, value }: Stop) =>
  current.value?.field === field &&
  current.value.index === index &&
  (!value || (selected.value !== null && same(selected.value, value.words)));

const hasMoved = (stop: Stop) => {
  const [start, end] = stop.value?.words ?? [0, 0];
  return [...moved.value.keys()].some((word) => word >= start && word < end);
};

/** What must differ before the printed text is shown beside the value: not only the punctuation. */
const letters = (text: string) => text.replace(/\D/g, "") || text;

/** A value as a button: focusing it lights up its words. */
function ValueButton({ stop }: { stop: Stop }) {
  const { value, field } = stop;
  const [pinned, doubt, shift] = [isPinned(stop), isLook(stop), hasMoved(stop)];
  const shown = value ? visible(value.shown ?? value.text) : "–";
  const states = [
    doubt && t("doubtful"),
    value?.nowhere && t("printed nowhere"),
    pinned && t("pinned"),
    shift && t("changed just now"),
    others.value?.confidence[field]?.text,
  ];
  const said = [value ? shown : t("not on the page"), ...states.filter(Boolean)].join(", ");
  return (
    <button
      id={stopId(stop)}
      class={`value ${isCurrent(stop) ? "current" : ""} ${shift ? "moved" : ""}`}
      // Tab stops at what a person should look at; j and k, or the arrows, go everywhere.
      tabIndex={doubt || isCurrent(stop) ? 0 : -1}
      aria-label={`${named(field)}: ${said}`}
      aria-current={isCurrent(stop) ? "true" : undefined}
      onFocus={() => arrive(field, stop.index)}
      onClick={() => goTo(stop)}
    >
      <bdi>{shown}</bdi>
      {value && letters(value.text) !== letters(shown) && (
        <small class="printed">{visible(value.text, 80)}</small>
      )}
      {value?.nowhere && <small class="nowhere">{t("printed nowhere")}</small>}
      {pinned && <span class="flag" title={t("pinned")}>⚑</span>}
      {shift && <span class="shift" title={t("changed just now")}>↷</span>}
    </button>
  );
}

function Sure({ kind }: { kind: FieldKind }) {
  const sure = others.value?.confidence[kind.name];
  if (!sure) return <span class="quiet">{others.value ? "" : "…"}</span>;
  const about = sure.high - sure.low < 0.01 ? "" : "≥ ";
  return (
    <span class={isLow(sure) ? "low" : "quiet"} title={sure.text}>
      {sure.known ? about + percent(sure.low) : <span aria-label={t("not known")}>·</span>}
    </span>
  );
}

/** Why it is not known how sure some fields are. */
function Unknown() {
  const found = Object.values(others.value?.confidence ?? {}).find((sure) => !sure.known);
  return found ? <p class="quiet">{t("· How sure some fields are is {0}.", found.text)}</p> : null;
}

function Others({ kind }: { kind: FieldKind }) {
  const found = choices(kind.name);
  const first = found[0];
  if (!first) return null;
  return (
    <button
      class="link"
      tabIndex={-1}
      title={t("Next: {0}", visible(first.shown, 80))}
      onClick={() => {
        current.value = { field: kind.name, index: 0 };
        nextChoice();
      }}
    >
      {count(found.length, "other")}
      <span class="hidden"> {t("{0}, next: {1}", visible(named(kind.name), 60), visible(first.shown, 80))}</span> <kbd>↵</kbd>
    </button>
  );
}

export function Name({ kind }: { kind: FieldKind }) {
  return (
    <span class={`name field c${kind.colour}`}>
      {visible(named(kind.name), 60)}
    </span>
  );
}

const isEdited = (stop: Stop) => editing.value?.field === stop.field && editing.value.index === stop.index;

/** Below the line of a field: what is typed for it, or what another value would change. */
function Below({ stops, columns }: { stops: Stop[]; columns: number }) {
  const asked = proposal.value;
  const edited = stops.some(isEdited);
  const proposed = asked && stops.some((stop) => stop.field === asked.field && current.value?.index === stop.index);
  if (!edited && !proposed) return null;
  return (
    <tr class="below">
      <td colSpan={columns}>
        {edited ? <Editor /> : <Asked />}
      </td>
    </tr>
  );
}

/** What another value of a field would change besides. */
function Asked() {
  const asked = proposal.value;
  if (!asked) return null;
  const { changes, worse, clash } = asked.preview;
  return (
    <div class="asked" role="group" aria-label={t("What would change")}>
      <p>
        {t("{0} would be {1}, and besides:", visible(named(asked.field), 40), visible(asked.shown, 60))}
      </p>
      <ul>
        {changes.map((change) => (
          <li key={change.field}>
            {visible(named(change.field), 40)} <del>{visible(change.old, 60) || "–"}</del> → {visible(change.new, 60) || "–"}
          </li>
        ))}
        {[...worse, ...clash].map((each) => (
          <li key={each} class="violated">✗ {visible(each, 160)}</li>
        ))}
      </ul>
      <button class="accept" onClick={asked.take}><kbd>↵</kbd> {t("Take it")}</button>{" "}
      <button onClick={() => (proposal.value = null)}><kbd>Esc</kbd> {t("Leave it")}</button>
    </div>
  );
}

function FieldRow({ kind, stops }: { kind: FieldKind; stops: Stop[] }) {
  const doubt = stops.some(isLook);
  return (
    <>
    <tr class={doubt ? "doubtful" : ""}>
      <td class="doubt" title={doubt ? t("look at this one") : undefined} aria-hidden="true">
        {doubt ? "?" : ""}
      </td>
      <th scope="row">
        <Name kind={kind} />
      </th>
      <td class="values">
        {stops.map((stop) => (
          <ValueButton key={stop.index} stop={stop} />
        ))}
      </td>
      <td class="sure">
        <Sure kind={kind} /> <Others kind={kind} />
      </td>
    </tr>
    <Below stops={stops} columns={4} />
    </>
  );
}

export function FieldList() {
  if (!doc.value) return null;
  const classes = Object.entries(doc.value.answer.classes ?? {});
  return (
    <Section title={t("Fields")}>
      {classes.map(([name, found]) => (
        <p key={name}>
          {visible(name, 60)}: <b>{visible(found.value, 60)}</b>
          {found.first && <small> {t("instead of {0}", visible(found.first, 60))}</small>}
        </p>
      ))}
      <table class="fields">
        <colgroup>
          <col class="doubt" />
          <col class="names" />
          <col />
          <col class="sure" />
        </colgroup>
        <tbody>
          {single.value.map(([kind, stops]) => (
            <FieldRow key={kind.name} kind={kind} stops={stops} />
          ))}
        </tbody>
      </table>
      <Absent />
      <Unknown />
      {tables.value.map((table) => (
        <RowTable key={table.kind} table={table} />
      ))}
    </Section>
  );
}

/** Fields that are not on the page, in one line. */
function Absent() {
  const list = folded.value;
  if (!list.length) return null;
  const names = list.map(([kind]) => named(kind.name)).join(", ");
  return (
    <button class="link absent" onClick={() => (absentShown.value = true)}>
      ▸ {t("{0} not on the page", count(list.length, "field"))} <small>{visible(names, 200)}</small>
    </button>
  );
}

function RowTable({ table }: { table: Table }) {
  return (
    <>
      <h2>{t("{0} rows", visible(named(table.kind), 60))}</h2>
      {table.rows.length === 0 && <p class="quiet">{t("No rows.")}</p>}
      <div class="sideways">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">{t("row")}</span>
              </th>
              {table.columns.map((kind) => (
                <th scope="col" key={kind.name}>
                  <Name kind={kind} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((cells, at) => (
              <Fragment key={at}>
              <tr class={cells.flat().some(isLook) ? "doubtful" : ""}>
                <th scope="row" class="quiet">{at + 1}</th>
                {cells.map((stops, column) => (
                  <td key={column}>
                    {stops.map((stop) => (
                      <ValueButton key={stop.index} stop={stop} />
                    ))}
                  </td>
                ))}
              </tr>
              <Below stops={cells.flat()} columns={cells.length + 1} />
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The labels that the selected words can get, each with its key. */
export function LabelButtons() {
  const all = [...kinds.value.values()];
  return (
    <>
      {all
        .filter((kind) => kind.key)
        .map((kind) => (
          <Key key={kind.name} name={kind.key ?? ""} run={() => label(kind.name)}>
            <Name kind={kind} />
          </Key>
        ))}
      <Key name="0" run={() => label(null)}>
        {t("nothing")}
      </Key>
      {current.value && (
        <Key name="x" run={absent}>
          {t("no {0} here", visible(named(current.value.field), 20))}
        </Key>
      )}
    </>
  );
}
