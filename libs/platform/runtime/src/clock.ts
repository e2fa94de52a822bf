import type { Clock, UnixMs } from '@gateway/base';

/** The system clock. It can step backwards. */
export const systemClock: Clock = { now: () => Date.now() as UnixMs };
