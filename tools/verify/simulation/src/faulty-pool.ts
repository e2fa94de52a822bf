import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient } from 'pg';
import type { Fault } from './history';

/** The process ended: whatever it was about to do it never will, and nobody hears what it did. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

/** One call with its fault, and how many statements it has sent. */
interface FaultyCall {
  readonly fault: Fault;
  /** The server's processes whose connections it lost. */
  readonly orphans: number[];
  statements: number;
  isDead: boolean;
  hasStruck: boolean;
}

const calls = new AsyncLocalStorage<FaultyCall>();

export interface FaultyResult<Result> {
  readonly result: Result;
  readonly hasStruck: boolean;
  /**
   * Processes of the server that may still be at what was sent, or not even have
   * read it; see {@link orphansGone}.
   */
  readonly orphans: readonly number[];
}

/** Runs work whose statements on pools of `breakable` suffer this fault. */
export async function withFault<Result>(
  fault: Fault | undefined,
  work: () => Promise<Result>,
): Promise<FaultyResult<Result>> {
  if (!fault) return { result: await work(), hasStruck: false, orphans: [] };
  const call: FaultyCall = { fault, orphans: [], statements: 0, isDead: false, hasStruck: false };
  const result = await calls.run(call, work);
  return { result, hasStruck: call.hasStruck, orphans: call.orphans };
}

/**
 * Resolves when these processes have ended. To look at what they do is not
 * enough: on a busy machine one whose connection was cut may rest for a while
 * before it reads, and does, what was sent before the cut.
 */
export async function orphansGone(watch: Pool, orphans: readonly number[]): Promise<void> {
  for (;;) {
    const { rowCount } = await watch.query('select from pg_stat_activity where pid = any ($1)', [orphans]);
    if (rowCount === 0) return;
  }
}

/** What the driver says when a connection ends under a query. */
const lost = () => new Error('Connection terminated unexpectedly');

/** Makes a pool suffer the faults of the calls that use it. */
export function breakable(pool: Pool): Pool {
  const connect = pool.connect.bind(pool) as (...parameters: unknown[]) => Promise<PoolClient>;
  const query = pool.query.bind(pool) as (...parameters: unknown[]) => unknown;
  const changed = pool as unknown as { connect: unknown; query: unknown };

  changed.connect = async (...parameters: unknown[]) => {
    const call = calls.getStore();
    // With a callback it is the pool itself that asks.
    if (!call || parameters.length > 0) return connect(...parameters);
    return faulty(await connect(), call);
  };
  changed.query = async (...parameters: unknown[]) => {
    const call = calls.getStore();
    if (!call) return query(...parameters);
    const client = faulty(await connect(), call);
    client.on('error', ignore);
    let failure: Error | undefined;
    try {
      return await (client.query as (...all: unknown[]) => Promise<unknown>)(...parameters);
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      // Only a connection that is still whole goes back; statements that failed are as good as whole ones here.
      client.off('error', ignore);
      client.release(failure);
    }
  };
  return pool;
}

function faulty(client: PoolClient, call: FaultyCall): PoolClient {
  const send = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>;
  const query = async (...parameters: unknown[]): Promise<unknown> => {
    if (call.isDead) throw new ProcessDied();
    call.statements += 1;
    const { kind, statement } = call.fault;
    if (call.hasStruck || call.statements !== statement) return send(...parameters);
    call.hasStruck = true;
    switch (kind) {
      case 'dies_before':
        return die(client, call);
      case 'dies_after':
        await send(...parameters);
        return die(client, call);
      case 'lost_answer':
        await send(...parameters);
        cut(client, call);
        throw lost();
      case 'cut': {
        const answer = send(...parameters);
        cut(client, call);
        return answer;
      }
    }
  };
  return new Proxy(client, {
    get(target, property) {
      if (property === 'query') return query;
      const value = Reflect.get(target, property) as unknown;
      return typeof value === 'function' ? (value as (...all: unknown[]) => unknown).bind(target) : value;
    },
  });
}

function ignore(): void {}

function die(client: PoolClient, call: FaultyCall): never {
  call.isDead = true;
  cut(client, call);
  throw new ProcessDied();
}

/** What the driver's types do not tell of a client. */
interface ClientInside {
  readonly processID: number;
  readonly connection: { readonly stream: { destroy(): void } };
}

/** As when the process dies: the socket is gone, without goodbye. */
function cut(client: unknown, call: FaultyCall): void {
  const { processID, connection } = client as ClientInside;
  call.orphans.push(processID);
  connection.stream.destroy();
}
