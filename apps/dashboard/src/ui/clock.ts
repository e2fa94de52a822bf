import { useSyncExternalStore } from 'react';

/** How often relative times are updated. */
const TICK_MS = 10_000;

let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = new Date();
    listeners.forEach((notify) => notify());
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Rerenders a component as time passes. All components share one timer. */
export function useTicks(): void {
  useSyncExternalStore(subscribe, () => now);
}
