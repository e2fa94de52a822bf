import { useSyncExternalStore } from 'react';

/**
 * A session that ends under an open page. What the page asks for then waits
 * until its person has signed in again, so that nothing that stands on the page
 * is lost: neither what it shows nor what somebody was typing.
 */
const listeners = new Set<() => void>();
let waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

const tell = () => listeners.forEach((listener) => listener());

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) waiting = undefined;
  };
}

/** Whether the page has to ask for a sign-in. While it is used, others may wait for one. */
export function useSessionHasEnded(): boolean {
  return useSyncExternalStore(subscribe, () => waiting !== undefined);
}

/** Whether there is a page that asks for it; before somebody was signed in there is none. */
export const asksToSignInAgain = () => listeners.size > 0;

/** @returns once the same person is signed in again. */
export function sessionHasEnded(): Promise<void> {
  if (!waiting) {
    let resolve: () => void = () => undefined;
    waiting = { promise: new Promise((settle) => (resolve = settle)), resolve: () => resolve() };
    tell();
  }
  return waiting.promise;
}

export function signedInAgain(): void {
  waiting?.resolve();
  waiting = undefined;
  tell();
}
