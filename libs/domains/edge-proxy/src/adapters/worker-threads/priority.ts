import { getPriority, setPriority } from 'node:os';

/** A "nice" value. */
const THREAD_PRIORITY = 10;

/** On a busy machine the event loop comes first. On other systems this would apply to the whole process. */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.max(getPriority(), THREAD_PRIORITY));
  } catch {
    // A sandbox may forbid it. The thread then has the priority of the process.
  }
}
