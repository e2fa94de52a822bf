import { sleep, TimeoutError, withTimeout } from '@gateway/base';
import type { TopicGroup } from '../event-log';

export interface DrainPorts {
  /** Resolves when no append is queued. */
  readonly appended: () => Promise<void>;
  readonly groups: () => Iterable<TopicGroup>;
  readonly isBehind: (group: TopicGroup) => Promise<boolean>;
  readonly pollMs: number;
}

/** Waits until each group has read its topic, one group after the other. Returns false after `timeoutMs`. */
export async function drainGroups(
  { appended, groups, isBehind, pollMs }: DrainPorts,
  timeoutMs: number,
): Promise<boolean> {
  const readAll = async (signal: AbortSignal): Promise<void> => {
    await appended();
    for (const group of groups()) {
      while (!signal.aborted && (await isBehind(group))) await sleep(pollMs, signal);
    }
  };
  try {
    await withTimeout(readAll, timeoutMs, 'reading the event log to its end');
    return true;
  } catch (error) {
    if (error instanceof TimeoutError) return false;
    throw error;
  }
}
