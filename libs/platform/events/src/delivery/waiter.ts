/** The pauses of one consumer, some at the same time, all of which end at once when it is stopped. */
export interface Waiter {
  readonly stopped: boolean;
  stop(): void;
  /** Resolves when it is stopped. */
  readonly whenStopped: Promise<void>;
  /** Ends the present `waitForWake`, or the next one before it begins. */
  wake(): void;
  waitForWake(timeoutMs: number): Promise<void>;
  pause(ms: number): Promise<void>;
}

export function createWaiter(): Waiter {
  let stopped = false;
  let woken = false;
  let endWait: (() => void) | undefined;
  const endsOfPauses = new Set<() => void>();
  let tellStopped: () => void = () => undefined;
  const whenStopped = new Promise<void>((resolve) => (tellStopped = resolve));

  /** Resolves after that time, or when what it hands out is called. */
  async function timed(ms: number, offerEnd: (end: () => void) => void): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      offerEnd(resolve);
    });
    clearTimeout(timer);
  }

  return {
    get stopped() {
      return stopped;
    },
    whenStopped,
    stop() {
      stopped = true;
      tellStopped();
      endWait?.();
      for (const end of endsOfPauses) end();
    },
    wake() {
      woken = true;
      endWait?.();
    },
    async waitForWake(timeoutMs) {
      if (!woken && !stopped) await timed(timeoutMs, (end) => (endWait = end));
      endWait = undefined;
      woken = false;
    },
    async pause(ms) {
      if (stopped) return;
      let endOfThis: () => void = () => undefined;
      await timed(ms, (end) => endsOfPauses.add((endOfThis = end)));
      endsOfPauses.delete(endOfThis);
    },
  };
}
