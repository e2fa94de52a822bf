import { startGateway, type RunningGateway } from './gateway';
import { newTally, type Destination, type Tally } from './load';
import type { Cores } from './machine';
import type { Options } from './options';
import type { Processes } from './processes';

/** A measured system. */
export interface Target {
  readonly name: string;
  readonly destination: Destination;
  /** The Node.js process, or the first of several. */
  readonly pid: number;
  /** All its Node.js processes; only `pid` when absent. */
  nodePids?(): readonly number[];
  /** Its database and other datastores, if it has any. */
  databasePids(): readonly number[];
  readonly tally: Tally;
}

const PATH = '/v1/chat/completions';
const noDatabase = (): readonly number[] => [];

interface StartedTargets {
  readonly targets: readonly Target[];
  readonly gateway: RunningGateway | undefined;
  readonly upstreamPort: number;
}

/** The gateway of another build. */
const OTHER_GATEWAY = 'other';

export function targetOf(name: string, gateway: RunningGateway): Target {
  return {
    name,
    destination: gateway.destination,
    pid: gateway.child.pid,
    databasePids: () => gateway.databasePids(),
    tally: newTally(),
  };
}

/** Starts the upstream and the requested targets. */
export async function startTargets(
  options: Options,
  processes: Processes,
  cores: Cores | undefined,
): Promise<StartedTargets> {
  const upstream = await processes.startRole('others', 'upstream');
  const targets: Target[] = [];
  let gateway: RunningGateway | undefined;
  for (const name of options.targets) {
    if (name === 'gateway') {
      gateway = await startGateway(processes, cores, upstream.port);
      targets.push(targetOf(name, gateway));
      if (options.otherBuilds !== undefined) {
        const other = await startGateway(processes, cores, upstream.port, { builds: options.otherBuilds });
        targets.push(targetOf(OTHER_GATEWAY, other));
      }
      continue;
    }
    const process =
      name === 'upstream'
        ? upstream
        : await processes.startRole('measured', name, [`http://127.0.0.1:${upstream.port}`]);
    targets.push({
      name,
      destination: { port: process.port, path: PATH, apiKey: 'sk-bench' },
      pid: process.pid,
      databasePids: noDatabase,
      tally: newTally(),
    });
  }
  return { targets, gateway, upstreamPort: upstream.port };
}
