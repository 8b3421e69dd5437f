// The fields of the document, and its rows as tables.

import { Fragment, h } from "preact";
import { absent, choices, label, nextChoice } from "./actions";
import type { FieldKind } from "./api";
import { arrive, goTo } from "./navigation";
import { Key, Section } from "./parts";
import { same } from "./pins";
import {
  current,
  doc,
  doubtful,
  isLow,
  isPinned,
  kinds,
  moved,
  others,
  selected,
  single,
  stopId,
  tables,
  type Stop,
  type Table,
} from "./state";
import { count, percent, visible } from "./text";

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
  const [pinned, doubt, shift] = [isPinned(stop), doubtful.value.has(field), hasMoved(stop)];
  const shown = value ? visible(value.shown ?? value.text) : "–";
  const states = [
    doubt && "doubtful",
    pinned && "pinned",
    shift && "changed just now",
    others.value?.confidence[field]?.text,
  ];
  const said = [value ? shown : "not on the page", ...states.filter(Boolean)].join(", ");
  return (
    <button
      id={stopId(stop)}
      class={`value ${isCurrent(stop) ? "current" : ""} ${shift ? "moved" : ""}`}
      // Tab stops at what a person should look at; j and k, or the arrows, go everywhere.
      tabIndex={doubt || isCurrent(stop) ? 0 : -1}
      aria-label={`${field}: ${said}`}
      aria-current={isCurrent(stop) ? "true" : undefined}
      onFocus={() => arrive(field, stop.index)}
      onClick={() => goTo(stop)}
    >
      <bdi>{shown}</bdi>
      {value && letters(value.text) !== letters(shown) && (
        <small class="printed">{visible(value.text, 80)}</small>
      )}
      {pinned && <span class="flag" title="pinned">⚑</span>}
      {shift && <span class="shift" title="changed just now">↷</span>}
    </button>
  );
}

function Sure({ kind }: { kind: FieldKind }) {
  const sure = others.value?.confidence[kind.name];
  if (!sure) return <span class="quiet">{others.value ? "" : "…"}</span>;
  const about = sure.high - sure.low < 0.01 ? "" : "≥ ";
  return (
    <span class={isLow(sure) ? "low" : "quiet"} title={sure.text}>
      {sure.known ? about + percent(sure.low) : "not known"}
    </span>
  );
}

/** Why it is not known how sure some fields are. */
function Unknown() {
  const found = Object.values(others.value?.confidence ?? {}).find((sure) => !sure.known);
  return found ? <p class="quiet">How sure some fields are is {found.text}.</p> : null;
}

function Others({ kind }: { kind: FieldKind }) {
  const found = choices(kind.name);
  const first = found[0];
  if (!first) return null;
  return (
    <button
      class="link"
      tabIndex={-1}
      title={`Next: ${visible(first.shown, 80)}`}
      aria-label={`${count(found.length, "alternative")} of ${kind.name}, next: ${first.shown}`}
      onClick={() => {
        current.value = { field: kind.name, index: 0 };
        nextChoice();
      }}
    >
      {count(found.length, "other")} <kbd>↵</kbd>
    </button>
  );
}

export function Name({ kind }: { kind: FieldKind }) {
  return (
    <span class={`name field c${kind.colour}`}>
      {visible(kind.name, 60)}
    </span>
  );
}

function FieldRow({ kind, stops }: { kind: FieldKind; stops: Stop[] }) {
  const doubt = doubtful.value.has(kind.name);
  return (
    <tr class={doubt ? "doubtful" : ""}>
      <td class="doubt" title={doubt ? "look at this one" : undefined} aria-hidden="true">
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
  );
}

export function FieldList() {
  if (!doc.value) return null;
  const classes = Object.entries(doc.value.answer.classes ?? {});
  return (
    <Section title="Fields">
      {classes.map(([name, found]) => (
        <p key={name}>
          {visible(name, 60)}: <b>{visible(found.value, 60)}</b>
          {found.from && <small> instead of {visible(found.from, 60)}</small>}
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
      <Unknown />
      {tables.value.map((table) => (
        <RowTable key={table.kind} table={table} />
      ))}
    </Section>
  );
}

function RowTable({ table }: { table: Table }) {
  return (
    <>
      <h2>{visible(table.kind, 60)} rows</h2>
      {table.rows.length === 0 && <p class="quiet">No rows.</p>}
      <div class="sideways">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">row</span>
              </th>
              {table.columns.map((kind) => (
                <th scope="col" key={kind.name}>
                  {doubtful.value.has(kind.name) && <span class="doubt" title="look at this one">? </span>}
                  <Name kind={kind} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((cells, at) => (
              <tr key={at}>
                <th scope="row" class="quiet">{at + 1}</th>
                {cells.map((stops, column) => (
                  <td key={column}>
                    {stops.map((stop) => (
                      <ValueButton key={stop.index} stop={stop} />
                    ))}
                  </td>
                ))}
              </tr>
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
        nothing
      </Key>
      {current.value && (
        <Key name="x" run={absent}>
          no {visible(current.value.field, 20)} here
        </Key>
      )}
    </>
  );
}
