// What is known about the answer: checks, corrections, alternatives, and what the reviewer said.

import { h } from "preact";
import { take, takeOver, unpinOne } from "./actions";
import type { Alternative, Check, Correction, Fields } from "./api";
import { goTo } from "./navigation";
import { Section } from "./parts";
import { said, wordsOf } from "./pins";
import { doc, labelName, lit, others, selection, stops, valueAt, wordText } from "./state";
import { t, visible } from "./text";

const SIGNS = {
  satisfied: ["✓", "holds"],
  violated: ["✗", "violated"],
  vacuous: ["○", "not checked"],
  unchecked: ["○", "not checked"],
} as const;

function CheckItem({ check }: { check: Check }) {
  const [sign, name] = SIGNS[check.state];
  const light = () => ([lit.value, selection.value] = [check.words, null]);
  return (
    <li class={check.state}>
      <button class="line" onClick={light}>
        <b class="state">
          <span aria-hidden="true">{sign}</span> {t(name)}
        </b>
        <span>
          {check.said ? visible(check.said) : <code>{visible(check.text)}</code>}
          <small>{visible(check.sum ?? (check.said ? check.text : check.message))}</small>
        </span>
      </button>
    </li>
  );
}

export function Checks() {
  const checks = doc.value?.answer.checks ?? [];
  const order = { violated: 0, satisfied: 1, vacuous: 2, unchecked: 2 };
  const sorted = checks
    .filter((check) => !check.implied || check.state === "violated")
    .sort((a, b) => order[a.state] - order[b.state]);
  return (
    <Section title={t("Checks")} empty={!sorted.length && t("The rules check nothing here.")}>
      <ul>
        {sorted.map((check, at) => (
          <CheckItem key={at} check={check} />
        ))}
      </ul>
      <Clash />
    </Section>
  );
}

/** Rules and pins that cannot all hold. */
function Clash() {
  const clash = doc.value?.answer.clash ?? [];
  if (!clash.length) return null;
  return (
    <p class="violated">
      {t("✗ These cannot all hold: {0}. Undo, or unpin one.", clash.map((each) => visible(each, 120)).join("; "))}
    </p>
  );
}

function selectWord(word: number): void {
  const stop = valueAt.value.get(word);
  if (stop) goTo(stop, false);
  else selection.value = { anchor: word, head: word };
}

function CorrectionItem({ correction }: { correction: Correction }) {
  const { word, old, new: label, why, odds } = correction;
  return (
    <li>
      <button class="line" onClick={() => selectWord(word)}>
        <b class="state">
          <bdi>{visible(wordText(word), 40)}</bdi>
        </b>
        <span>
          <del>{labelName(old)}</del> → {labelName(label)}
          <small>
            {visible(why)}; {odds}
          </small>
        </span>
      </button>
    </li>
  );
}

export function Corrections() {
  const found = doc.value?.answer.corrections ?? [];
  return (
    <Section title={t("Corrected by the rules")} empty={!found.length && t("Nothing: this is what the model said.")}>
      <ul>
        {found.map((correction) => (
          <CorrectionItem key={correction.word} correction={correction} />
        ))}
      </ul>
    </Section>
  );
}

const inWords = (fields: Fields, name: string): string =>
  (fields[name] ?? []).map((value) => visible(value.shown ?? value.text, 60)).join(", ") || "–";

function AlternativeItem({ other, at }: { other: Alternative; at: number }) {
  const now = doc.value?.answer.fields ?? {};
  return (
    <li class="alternative">
      <div>
        {other.differs.map((name) => (
          <p key={name}>
            <b>{visible(name, 60)}</b> <del>{inWords(now, name)}</del> → {inWords(other.fields, name)}
          </p>
        ))}
        {other.differs.length === 0 && <p>{t("The same values in other places")}</p>}
        <small>
          {other.odds}
          {other.violated.length > 0 && (
            <span class="violated"> {t("✗ breaks {0}", other.violated.map((id) => visible(id, 60)).join(", "))}</span>
          )}
        </small>
      </div>
      <button onClick={() => take(at)}>
        {t("Take it")}
      </button>
    </li>
  );
}

export function AlternativeList() {
  const found = others.value;
  return (
    <Section title={t("Alternatives")} empty={!found ? "…" : !found.alternatives.length && t("None was found.")}>
      <ol>
        {found?.alternatives.map((other, at) => (
          <AlternativeItem key={at} other={other} at={at} />
        ))}
      </ol>
    </Section>
  );
}

export function Pins() {
  const now = doc.value;
  if (!now) return null;
  return (
    <Section title={t("What people said")} empty={!now.pins.length && t("Nothing is pinned yet.")}>
      <ul>
        {now.pins.map((pin) => {
          const words = wordsOf(pin);
          const stop = stops.value.find((each) => "field" in pin && each.field === pin.field);
          return (
            <li key={JSON.stringify(pin)} class="pin">
              <button
                class="line"
                onClick={() => (words ? selectWord(words[0]) : stop && goTo(stop))}
              >
                <span aria-hidden="true">⚑</span> <bdi>{visible(said(now, pin), 160)}</bdi>
              </button>
              <button onClick={() => unpinOne(pin)}>
                {t("Unpin")}
              </button>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** An earlier review that does not fit this document, these rules or this answer any more. */
export function Stale() {
  const stale = doc.value?.stale;
  if (!stale) return null;
  return (
    <p class="stale">
      {visible(stale.message, 400)}{" "}
      {stale.what !== "answer" && stale.pins.length > 0 && (
        <button onClick={takeOver}>
          {t("Take over what was said")}
        </button>
      )}
    </p>
  );
}
