import { useSyncExternalStore } from 'react';
import type { TimeZone } from '../format/time';

const STORAGE_KEY = 'time-zone';
const listeners = new Set<() => void>();

const chosen = (): TimeZone => (localStorage.getItem(STORAGE_KEY) === 'local' ? 'local' : 'utc');

/** Applies to the times of logs and their filters. Days of usage, budgets and statements are always UTC. */
export function chooseTimeZone(zone: TimeZone): void {
  if (zone === 'utc') localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, zone);
  for (const listener of listeners) listener();
}

export function useTimeZone(): TimeZone {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, chosen);
}
