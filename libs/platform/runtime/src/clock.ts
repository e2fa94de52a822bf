import type { Clock, UnixMs } from '@gateway/base';

/** The machine's clock. It may step back when it is corrected. */
export const systemClock: Clock = { now: () => Date.now() as UnixMs };
