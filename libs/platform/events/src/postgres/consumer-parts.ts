import type { Clock } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import type { Pool } from 'pg';
import type { EventLogInstruments } from '../delivery/instruments';
import type { EventLogLimits } from '../delivery/limits';

export interface ConsumerParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: DatabaseLog;
  readonly limits: EventLogLimits;
  readonly instruments: EventLogInstruments;
  /** Whether a handler's failure will pass by itself. Such deliveries are repeated for ever. */
  readonly isTransient: (error: unknown) => boolean;
}
