import { useSyncExternalStore } from 'react';

/**
 * Handles a session that expires while a page is open: reads wait until the person has signed in again,
 * so the page and its form input are kept.
 */
const listeners = new Set<() => void>();
let pendingSignIn: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

const notify = () => listeners.forEach((listener) => listener());

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) pendingSignIn = undefined;
  };
}

/** Whether the sign-in dialog must be open. Mounting this hook enables waiting for a sign-in. */
export function useSessionExpired(): boolean {
  return useSyncExternalStore(subscribe, () => pendingSignIn !== undefined);
}

/** Whether the sign-in dialog is mounted, which it is on pages for signed-in people. */
export const canSignInAgain = () => listeners.size > 0;

/** Resolves when the same person has signed in again. */
export function waitForSignIn(): Promise<void> {
  if (!pendingSignIn) {
    let resolve: () => void = () => undefined;
    pendingSignIn = { promise: new Promise((done) => (resolve = done)), resolve: () => resolve() };
    notify();
  }
  return pendingSignIn.promise;
}

export function resumeAfterSignIn(): void {
  pendingSignIn?.resolve();
  pendingSignIn = undefined;
  notify();
}
