// The connection to the server: noticed when it is lost, tried again until it is back.

import { getSession, isLocked, Offline } from "./api";
import { t } from "./text";
import { failure, locked, offline, session } from "./state";

const AGAIN = 2000; // milliseconds

const callbacks: (() => void)[] = [];
let timer: number | undefined;

/** Runs this whenever the connection is back. */
export function whenBack(run: () => void): void {
  callbacks.push(run);
}

/** Says that the connection is lost and keeps trying. */
export function lost(): void {
  offline.value = true;
  timer ??= window.setTimeout(retry, AGAIN);
}

/** Tries now. */
export async function retry(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  try {
    session.value = await getSession();
    offline.value = locked.value = false;
    failure.value = null;
    for (const run of callbacks) run();
  } catch (error) {
    trouble(error);
  }
}

/** Says why there is no answer. What is shown, and what waits to be sent, stays if it can. */
export function trouble(error: unknown): void {
  if (error instanceof Offline) {
    lost();
  } else if (isLocked(error) && session.value) {
    locked.value = true;
  } else {
    offline.value = false;
    failure.value = isLocked(error)
      ? t("This address has no valid token. Open the address that `lawful review` printed when it started.")
      : String((error as Error).message);
  }
}
