import { useSyncExternalStore } from 'react';

/** How long "12 sec. ago" may stand before it is said anew. */
const TICK_MS = 10_000;

let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = new Date();
    listeners.forEach((tell) => tell());
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Has what shows it rendered again as time passes: one timer for all of the page. */
export function useTicks(): void {
  useSyncExternalStore(subscribe, () => now);
}
