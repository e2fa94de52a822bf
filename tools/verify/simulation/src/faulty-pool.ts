import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient } from 'pg';
import type { Fault } from './history';

/** The process terminated: it does nothing more, and its call gets no result. */
export class ProcessTerminated extends Error {
  override readonly name = 'ProcessTerminated';
}

/** A call with its fault and the number of statements it has sent. */
interface FaultyCall {
  readonly fault: Fault;
  /** PostgreSQL backends whose connections were cut. */
  readonly orphans: number[];
  statements: number;
  hasTerminated: boolean;
  hasFired: boolean;
}

const calls = new AsyncLocalStorage<FaultyCall>();

export interface FaultyResult<Result> {
  readonly result: Result;
  readonly hasFired: boolean;
  /**
   * PostgreSQL backends that may not have executed, or even read, the last
   * statement; see {@link waitForOrphans}.
   */
  readonly orphans: readonly number[];
}

/** Runs work with this fault injected into its statements, on pools of {@link injectFaults}. */
export async function withFault<Result>(
  fault: Fault | undefined,
  work: () => Promise<Result>,
): Promise<FaultyResult<Result>> {
  if (!fault) return { result: await work(), hasFired: false, orphans: [] };
  const call: FaultyCall = { fault, orphans: [], statements: 0, hasTerminated: false, hasFired: false };
  const result = await calls.run(call, work);
  return { result, hasFired: call.hasFired, orphans: call.orphans };
}

/**
 * Resolves when these backends have exited. Waiting until they are idle is not
 * enough: on a busy machine a backend may read and execute a statement long after
 * its connection was cut.
 */
export async function waitForOrphans(watch: Pool, orphans: readonly number[]): Promise<void> {
  for (;;) {
    const { rowCount } = await watch.query('select from pg_stat_activity where pid = any ($1)', [orphans]);
    if (rowCount === 0) return;
  }
}

/** The driver's error for a connection that is lost during a query. */
const lost = () => new Error('Connection terminated unexpectedly');

/** Patches a pool so that the faults of its calls are injected. */
export function injectFaults(pool: Pool): Pool {
  const connect = pool.connect.bind(pool) as (...parameters: unknown[]) => Promise<PoolClient>;
  const query = pool.query.bind(pool) as (...parameters: unknown[]) => unknown;
  const changed = pool as unknown as { connect: unknown; query: unknown };

  changed.connect = async (...parameters: unknown[]) => {
    const call = calls.getStore();
    // The pool itself calls with a callback.
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
      // Discards the connection after any error, also one of a statement.
      client.off('error', ignore);
      client.release(failure);
    }
  };
  return pool;
}

function faulty(client: PoolClient, call: FaultyCall): PoolClient {
  const send = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>;
  const query = async (...parameters: unknown[]): Promise<unknown> => {
    if (call.hasTerminated) throw new ProcessTerminated();
    call.statements += 1;
    const { kind, statement } = call.fault;
    if (call.hasFired || call.statements !== statement) return send(...parameters);
    call.hasFired = true;
    switch (kind) {
      case 'terminated_before':
        return terminate(client, call);
      case 'terminated_after':
        await send(...parameters);
        return terminate(client, call);
      case 'lost_response':
        await send(...parameters);
        cut(client, call);
        throw lost();
      case 'cut': {
        const result = send(...parameters);
        cut(client, call);
        return result;
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

function terminate(client: PoolClient, call: FaultyCall): never {
  call.hasTerminated = true;
  cut(client, call);
  throw new ProcessTerminated();
}

/** Fields that the driver's types omit. */
interface ClientInternals {
  readonly processID: number;
  readonly connection: { readonly stream: { destroy(): void } };
}

/** Closes the socket without a termination message, like a terminated process. */
function cut(client: unknown, call: FaultyCall): void {
  const { processID, connection } = client as ClientInternals;
  call.orphans.push(processID);
  connection.stream.destroy();
}
