import { startGateway } from '../gateway';
import { compile, measureScenario, type Row } from '../measure';
import { checkMoney } from '../money-check';
import type { Options } from '../options';
import type { Processes } from '../processes';
import { targetOf, type Target } from '../targets';
import { COMPILE_FACTOR, SCENARIOS, type DeploymentFigures } from './deployments';

type WithProcesses = <T>(cores: undefined, work: (processes: Processes) => Promise<T>) => Promise<T>;

/**
 * The gateway in one process beside clusters on the same machine, one after the
 * other: their processes share all cores with the load, so the cost per request
 * says more than the requests per second.
 */
export async function measureClusters(
  options: Options,
  withProcesses: WithProcesses,
  say: (text: string) => void,
): Promise<DeploymentFigures[]> {
  const figures: DeploymentFigures[] = [];
  for (const size of [0, ...options.sizes]) {
    const name = size === 0 ? 'one process' : `cluster, ${size} of edge and ledger`;
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
    clusterArguments: argumentsOf(size),
  });
  const target: Target = {
    ...targetOf(name, gateway),
    // Of a cluster the first process is what stands for an orchestrator and an ingress: no part of its cost.
    nodePids: () => gateway.nodePids().slice(size === 0 ? 0 : 1),
  };
  const factor = size === 0 ? 1 : COMPILE_FACTOR;
  await compile([target], { ...options, compileMs: factor * options.compileMs });
  const rows: Row[] = [];
  for (const scenario of SCENARIOS) rows.push(...(await measureScenario(scenario, [target], options)));
  const { exact } = await checkMoney(gateway, target.tally);
  return { name, rows, isMoneyExact: exact };
}

function argumentsOf(size: number): readonly string[] | undefined {
  if (size === 0) return undefined;
  const replicas = { edge: size, ledger: size, 'rate-limit': Math.min(size, 2), router: size };
  return Object.entries(replicas).flatMap(([service, count]) => ['--replicas', `${service}=${count}`]);
}
