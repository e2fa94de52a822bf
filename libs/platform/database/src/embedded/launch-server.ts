import { findFreePort } from './free-port';
import { pause } from './pause';
import { ServerStartError, type ServerProcess, type StartFailure } from './server-process';

/** Starts a server on a port. */
export type LaunchServer = (port: number) => Promise<ServerProcess>;

export interface LaunchRetryOptions {
  /** Failures that may pass on their own. */
  readonly retryOn: readonly StartFailure[];
  /** Stops the retries. */
  readonly signal?: AbortSignal;
}

const MAX_PORT_ATTEMPTS = 10;
const MAX_START_ATTEMPTS = 60;
const RETRY_PAUSE_MS = 500;

/** Starts a server on the preferred port, or on another one if that is in use. */
export async function launchOnFreePort(
  launch: LaunchServer,
  preferredPort: number | undefined,
): Promise<{ readonly server: ServerProcess; readonly port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort(attempt === 1 ? preferredPort : undefined);
    try {
      // Backends of a killed server take a moment to exit; until then a new server refuses to start.
      return { server: await launchWithRetries(launch, port, { retryOn: ['predecessor-alive'] }), port };
    } catch (error) {
      const isPortInUse = error instanceof ServerStartError && error.failure === 'port-in-use';
      if (!isPortInUse || attempt >= MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

export async function launchWithRetries(
  launch: LaunchServer,
  port: number,
  { retryOn, signal }: LaunchRetryOptions,
): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(port);
    } catch (error) {
      const isRetryable = error instanceof ServerStartError && retryOn.includes(error.failure);
      if (!isRetryable || attempt >= MAX_START_ATTEMPTS || signal?.aborted) throw error;
      await pause(RETRY_PAUSE_MS, signal);
    }
  }
}
