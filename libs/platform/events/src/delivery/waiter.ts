import { Cancellation, sleep, type CancelSignal } from '@gateway/base';

/** The pauses of one consumer, which may overlap. All end immediately when it is stopped. */
export interface Waiter {
  readonly stopped: boolean;
  /** Aborts when it is stopped. */
  readonly signal: CancelSignal;
  /** Resolves when it is stopped. */
  readonly whenStopped: Promise<void>;
  stop(): void;
  /** Ends the current `waitForWake`, or the next one before it starts. */
  wake(): void;
  waitForWake(timeoutMs: number): Promise<void>;
  pause(ms: number): Promise<void>;
}

export function createWaiter(): Waiter {
  const stopping = new Cancellation();
  const whenStopped = new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve()));
  let woken = false;
  let waiting: Cancellation | undefined;

  function wake(): void {
    woken = true;
    waiting?.abort();
  }

  return {
    get stopped() {
      return stopping.aborted;
    },
    signal: stopping,
    whenStopped,
    stop() {
      stopping.abort();
      wake();
    },
    wake,
    async waitForWake(timeoutMs) {
      waiting = new Cancellation();
      if (!woken && !stopping.aborted) await sleep(timeoutMs, waiting);
      waiting = undefined;
      woken = false;
    },
    pause: (ms) => sleep(ms, stopping),
  };
}
