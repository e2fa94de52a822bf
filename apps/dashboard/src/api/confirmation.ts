import { useSyncExternalStore } from 'react';

/** A sensitive change waits until the person has confirmed the session, or has cancelled. */
interface Pending {
  readonly promise: Promise<boolean>;
  readonly finish: (confirmed: boolean) => void;
}

let pending: Pending | undefined;
const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Whether the confirmation dialog must be open. Mounting this hook enables waiting for it. */
export function useConfirmationPending(): boolean {
  return useSyncExternalStore(subscribe, () => pending !== undefined);
}

/** Opens the dialog. False: the person cancelled, or no dialog is mounted. */
export function waitForConfirmation(): Promise<boolean> {
  if (listeners.size === 0) return Promise.resolve(false);
  if (!pending) {
    let finish: Pending['finish'] = () => undefined;
    pending = { promise: new Promise((done) => (finish = done)), finish: (confirmed) => finish(confirmed) };
    notify();
  }
  return pending.promise;
}

export function finishConfirmation(confirmed: boolean): void {
  pending?.finish(confirmed);
  pending = undefined;
  notify();
}
