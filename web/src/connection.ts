// The connection to the server: noticed when it is lost, tried again until it is back.

import { getSession, Offline, Refused } from "./api";
import { failure, offline, session } from "./state";

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
    offline.value = false;
    for (const run of callbacks) run();
  } catch (error) {
    if (error instanceof Offline) lost();
    else fail(error);
  }
}

/** Says why nothing can be shown. */
export function fail(error: unknown): void {
  offline.value = false;
  failure.value =
    error instanceof Refused && [401, 403].includes(error.problem.status)
      ? "This address has no valid token. Open the address that `lawful review` printed when it started."
      : String((error as Error).message);
}
