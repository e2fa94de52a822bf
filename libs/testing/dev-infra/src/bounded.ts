import { globalAgent as httpAgent } from 'node:http';
import { globalAgent as httpsAgent } from 'node:https';
// Jest's global setup does not support the workspace's import aliases, so this imports by path.
// eslint-disable-next-line @nx/enforce-module-boundaries
import { TimeoutError, withTimeout } from '../../../platform/base/src/with-timeout';

/** Waits for Docker a limited time. */
export async function bounded<Result>(
  what: string,
  timeoutMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await withTimeout(work(), timeoutMs, what);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    // A connection that stays open would keep the test process from exiting.
    for (const agent of [httpAgent, httpsAgent]) agent.destroy();
    throw new Error(`Docker: ${error.message}. GATEWAY_TEST_ENGINES=local does not use Docker.`, {
      cause: error,
    });
  }
}
