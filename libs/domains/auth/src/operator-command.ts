import { isRefusal } from '@gateway/errors';
import { DEFAULT_PEOPLE_SETTINGS, grantOperator, type GrantOperator } from '@gateway/people';
import { Cancellation, type Clock } from '@gateway/base';
import { newId, type Logger } from '@gateway/runtime';
import type { Pool } from 'pg';
import { createAuthAdapters } from './adapters/create-adapters';

export interface OperatorCommandOptions extends GrantOperator {
  /** A pool of the migrated schema `auth`. The caller ends it. */
  readonly pool: Pool;
  /** The clock of the database, with which auth expires the link. */
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes a person an operator, in this process. Throws an Error with a text for the terminal. */
export async function makeOperator({ pool, clock, log, email, dashboardUrl }: OperatorCommandOptions) {
  const adapters = createAuthAdapters({ pool, clock, log });
  try {
    const granted = await grantOperator(
      {
        ...adapters.people,
        leases: adapters.leases,
        feed: adapters.feed,
        clock,
        newId,
        settings: DEFAULT_PEOPLE_SETTINGS,
      },
      { email, dashboardUrl },
      new Cancellation(),
    );
    if (isRefusal(granted)) throw new Error(granted.message);
    return granted;
  } finally {
    await adapters.stop();
  }
}
