import path from 'node:path';

interface ClockOptions {
  /** How far the gateway's clock is from that of the machine when it starts. */
  readonly shiftMs?: number;
  /** How far it jumps with each `jump`. */
  readonly stepMs?: number;
}

/** What a gateway is started with so that its clock runs beside that of the machine. */
export function withShiftedClock({ shiftMs = 0, stepMs = 0 }: ClockOptions): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${path.resolve('apps/e2e/src/testing/move-clock.mjs')}`,
    GATEWAY_TEST_CLOCK_SHIFT_MS: String(shiftMs),
    GATEWAY_TEST_CLOCK_STEP_MS: String(stepMs),
  };
}

/** Has the clock of a running gateway jump by its `stepMs`. */
export function jump(pid: number): void {
  process.kill(pid, 'SIGUSR2');
}
