import { TimeoutError, withTimeout } from '@gateway/base';
import { Pool, type PoolConfig } from 'pg';
import { isServerReadOnly } from './database-error';
import type { PoolClients } from './pool-client';

/** How long `end` waits for running statements, and then for their connections to close. */
const END_WAIT_MS = 2_000;
const CLOSE_WAIT_MS = 1_000;

/** A pool that leaves servers that are read-only or silent, and whose `end` takes at most three seconds. */
export class DatabasePool extends Pool {
  constructor(
    config: PoolConfig,
    private readonly clients: PoolClients,
    acceptsReadOnly: boolean,
  ) {
    super({ ...config, Client: clients.Client });
    if (acceptsReadOnly) return;
    // The server was demoted, so every connection to it is of no more use.
    this.on('release', (error: unknown) => {
      if (isServerReadOnly(error)) this.dropConnections('the database server is read-only');
    });
  }

  /** Closes all connections without waiting for the server. Their statements fail; the next ones connect again. */
  dropConnections(reason: string): void {
    this.clients.drop(reason);
  }

  /** Waits for running statements, but not for a server that does not respond. */
  override end(): Promise<void>;
  override end(ended: () => void): void;
  override end(ended?: () => void): Promise<void> | void {
    const ending = this.endInTime();
    if (ended === undefined) return ending;
    ending.then(ended, ended);
  }

  private async endInTime(): Promise<void> {
    const ending = super.end();
    try {
      await withTimeout(ending, END_WAIT_MS, 'the end of a database pool');
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      this.dropConnections('the process stops');
      await withTimeout(ending, CLOSE_WAIT_MS, 'closing database connections');
    }
  }
}
