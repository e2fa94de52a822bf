import path from 'node:path';

interface ClockOptions {
  /** The offset of the gateway's clock from the machine's clock at startup. */
  readonly shiftMs?: number;
  /** The step of each `stepClock`. */
  readonly stepMs?: number;
}

/** The environment of a gateway whose clock is shifted from the machine's. */
export function withShiftedClock({ shiftMs = 0, stepMs = 0 }: ClockOptions): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${path.resolve('apps/e2e/src/testing/move-clock.mjs')}`,
    GATEWAY_TEST_CLOCK_SHIFT_MS: String(shiftMs),
    GATEWAY_TEST_CLOCK_STEP_MS: String(stepMs),
  };
}

/** Steps the clock of a running gateway by its `stepMs`. */
export function stepClock(pid: number): void {
  process.kill(pid, 'SIGUSR2');
}
