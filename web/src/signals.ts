// Signals: values that know who has read them. Like Preact's, in the fortieth part of the page's
// size limit instead of the tenth: here everything that is drawn is drawn in one go.

export interface Computed<T> {
  readonly value: T;
}

export interface Signal<T> {
  value: T;
}

type Reader = () => void;

let reader: Reader | null = null;

/** Runs this; the reader is told once, after something that was read in it has changed. */
function readBy<T>(who: Reader, run: () => T): T {
  const before = reader;
  reader = who;
  try {
    return run();
  } finally {
    reader = before;
  }
}

/** Those who have read a value, to be told when it changes. */
function audience() {
  let readers = new Set<Reader>();
  return {
    join(): void {
      if (reader) readers.add(reader);
    },
    tell(): void {
      const told = readers;
      readers = new Set();
      for (const each of told) each();
    },
  };
}

/** A value that can be set. */
export function signal<T>(first: T): Signal<T> {
  const readers = audience();
  let now = first;
  return {
    get value() {
      readers.join();
      return now;
    },
    set value(next) {
      if (next === now) return;
      now = next;
      readers.tell();
    },
  };
}

/** A value made of others, made again when it is read after one of them has changed. */
export function computed<T>(make: () => T): Computed<T> {
  const readers = audience();
  let known: { value: T } | null = null;
  const forget = () => {
    known = null;
    readers.tell();
  };
  return {
    get value() {
      readers.join();
      known ??= { value: readBy(forget, make) };
      return known.value;
    },
  };
}

/** Runs this now, and again soon after something that it has read has changed. */
export function always(run: () => void): void {
  let again = false;
  const soon = () => {
    if (again) return;
    again = true;
    // A microtask later, all that changes with it has changed.
    queueMicrotask(() => {
      again = false;
      readBy(soon, run);
    });
  };
  readBy(soon, run);
}

/** Runs this whenever the value that `read` gives has changed, once the page shows it. */
export function afterDrawing<T>(read: () => T, run: (now: T) => void): void {
  let before: T | undefined;
  always(() => {
    const now = read();
    if (now === before) return;
    before = now;
    requestAnimationFrame(() => run(now));
  });
}
