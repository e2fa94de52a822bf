import type { SeededRandom } from '@gateway/testing';
import type { Pool, PoolClient } from 'pg';

export interface FaultRates {
  /** The statement is done and its answer lost. */
  readonly lostAnswer: number;
  /** The connection is cut while the statement is on its way: nobody knows. */
  readonly cut: number;
}

type AnyQuery = (...parameters: unknown[]) => unknown;
type Callback = (error: Error | null, result?: unknown) => void;

/** What the driver says when a connection ends under a query. */
const lost = () => new Error('Connection terminated unexpectedly');

/**
 * Makes every new connection of a pool fail at random, in the two ways in
 * which a caller cannot tell whether its statement took effect.
 */
export function breakConnections(pool: Pool, random: SeededRandom, rates: FaultRates): void {
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client) as AnyQuery;
    (client as unknown as { query: AnyQuery }).query = (...parameters) => {
      const fate = random.next();
      const last = parameters[parameters.length - 1];
      if (fate < rates.lostAnswer) {
        if (typeof last === 'function') {
          const callback = last as Callback;
          return query(...parameters.slice(0, -1), (error: Error | null) => callback(error ?? lost()));
        }
        return (query(...parameters) as Promise<unknown>).then(() => {
          throw lost();
        });
      }
      const answer = query(...parameters);
      if (fate < rates.lostAnswer + rates.cut) cut(client);
      return answer;
    };
  });
}

/** As when the process dies: the socket is gone, without goodbye. */
export function cut(client: unknown): void {
  (client as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
