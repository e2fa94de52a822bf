import type { Incident } from '@gateway/base';
import type { IncidentsDefinition } from '@gateway/contracts/auth';
import type { RpcClient } from '@gateway/rpc';
import { createPeriodicTask, type Logger, type PeriodicTask } from '@gateway/runtime';
import type { GatewayModule } from './gateway-module';

const INTERVAL_MS = 10_000;
/** Further ones are reported once others have ended. */
const MAX_INCIDENTS = 100;
const TIMEOUT_MS = 5_000;

export interface IncidentReporterPorts {
  readonly modules: readonly Pick<GatewayModule, 'name' | 'incidents'>[];
  /** Auth, which notifies operators. */
  readonly incidents: RpcClient<typeof IncidentsDefinition>;
  readonly log: Logger;
  readonly intervalMs?: number | undefined;
}

/**
 * Reports the current incidents of a process to auth, every 10 seconds while there
 * is one. Each report has them all, so a lost report needs no retry.
 */
export function createIncidentReporter(ports: IncidentReporterPorts): PeriodicTask {
  const { modules, incidents, log, intervalMs = INTERVAL_MS } = ports;
  /** By module. */
  const latest = new Map<string, readonly Incident[]>();

  async function report(): Promise<void> {
    await Promise.all(modules.map(collect));
    const current = [...latest.values()].flat();
    if (current.length === 0) return;
    await incidents
      .reportIncidents({ incidents: current.slice(0, MAX_INCIDENTS) }, { timeoutMs: TIMEOUT_MS })
      .catch((error: unknown) => log.warn({ err: error }, 'cannot report incidents to auth; retrying'));
  }

  /** A module that cannot report them, for example without its database, keeps its incidents. */
  async function collect({
    name,
    incidents: read,
  }: Pick<GatewayModule, 'name' | 'incidents'>): Promise<void> {
    if (!read) return;
    try {
      latest.set(name, await read());
    } catch (error) {
      log.debug({ err: error, module: name }, 'cannot read the incidents of a module');
    }
  }

  return createPeriodicTask(report, intervalMs);
}
