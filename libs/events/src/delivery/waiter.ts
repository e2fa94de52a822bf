/** The pauses of one consumer, all of which end at once when it is stopped. */
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
  let endPause: (() => void) | undefined;
  let tellStopped: () => void = () => undefined;
  const whenStopped = new Promise<void>((resolve) => (tellStopped = resolve));

  function timed(ms: number, offerEnd: (end: (() => void) | undefined) => void): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        offerEnd(undefined);
        resolve();
      };
      const timer = setTimeout(end, ms);
      offerEnd(end);
    });
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
      endPause?.();
    },
    wake() {
      woken = true;
      endWait?.();
    },
    async waitForWake(timeoutMs) {
      if (!woken && !stopped) await timed(timeoutMs, (end) => (endWait = end));
      woken = false;
    },
    async pause(ms) {
      if (!stopped) await timed(ms, (end) => (endPause = end));
    },
  };
}
