// Parts that several views share.

import { h, type ComponentChildren } from "preact";

interface KeyProps {
  name: string;
  run: () => void;
  style?: string;
  children: ComponentChildren;
}

/** A button that shows the key that does the same. */
export const Key = ({ name, run, style = "", children }: KeyProps) => (
  <button type="button" class={style} onClick={run}>
    <kbd>{name}</kbd> {children}
  </button>
);

interface SectionProps {
  title: string;
  /** What is said instead, if there is nothing to show. */
  empty?: string | false | undefined;
  children: ComponentChildren;
}

export const Section = ({ title, empty, children }: SectionProps) => (
  <section aria-label={title}>
    <h2>{title}</h2>
    {empty && <p class="quiet">{empty}</p>}
    {children}
  </section>
);
