import { startGateway } from '../gateway';
import { compile, measureScenario, type Row } from '../measure';
import { measurePaced } from '../measure-paced';
import { checkCharges } from '../check-charges';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { targetOf, type Target } from '../targets';
import { COMPILE_FACTOR, SCENARIOS, type DeploymentFigures } from './deployments';

type WithProcesses = <T>(cores: undefined, work: (processes: Processes) => Promise<T>) => Promise<T>;

/**
 * Measures the gateway in one process, then clusters on the same machine. The processes
 * share all cores with the load generator, so CPU per request is more meaningful than
 * requests per second.
 */
export async function measureClusters(
  options: Options,
  withProcesses: WithProcesses,
  say: (text: string) => void,
): Promise<DeploymentFigures[]> {
  const figures: DeploymentFigures[] = [];
  for (const size of [0, ...options.sizes]) {
    const name =
      size === 0
        ? 'one process'
        : `cluster, ${size} ${size === 1 ? 'replica' : 'replicas'} of edge and ledger`;
    say(`Measuring: ${name}`);
    figures.push(
      await withProcesses(undefined, (processes) => measureDeployment(name, size, options, processes)),
    );
  }
  return figures;
}

async function measureDeployment(
  name: string,
  size: number,
  options: Options,
  processes: Processes,
): Promise<DeploymentFigures> {
  const upstream = await processes.startRole('others', 'upstream');
  const gateway = await startGateway(processes, undefined, upstream.port, {
    clusterArguments: size === 0 ? undefined : clusterArguments(size),
  });
  const target: Target = {
    ...targetOf(name, gateway),
    // The first process of a cluster simulates the orchestrator and the ingress, so it is not counted.
    nodePids: () => gateway.nodePids().slice(size === 0 ? 0 : 1),
  };
  const factor = size === 0 ? 1 : COMPILE_FACTOR;
  await compile([target], { ...options, compileMs: factor * options.compileMs });
  const rows: Row[] = [];
  for (const scenario of SCENARIOS) rows.push(...(await measureScenario(scenario, [target], options)));
  const [paced] = await measurePaced([target], options);
  const { exact } = await checkCharges(gateway, target.tally);
  const cpuMicrosecondsPerChunk = paced?.cpuMicrosecondsPerChunk ?? null;
  return { name, rows, cpuMicrosecondsPerChunk, areChargesExact: exact };
}

/** The arguments of a cluster with this many replicas of edge, ledger and router. */
function clusterArguments(size: number): readonly string[] {
  const replicas = { edge: size, ledger: size, 'rate-limit': Math.min(size, 2), router: size };
  return Object.entries(replicas).flatMap(([service, count]) => ['--replicas', `${service}=${count}`]);
}
