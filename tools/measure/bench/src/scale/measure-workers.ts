import { startGateway } from '../gateway';
import { compile, measureScenario, scenarioName, type Row } from '../measure';
import { checkMoney } from '../money-check';
import { type Options } from '../options';
import { type Processes } from '../processes';
import { targetOf } from '../targets';
import { COMPILE_FACTOR, renderDeployments, SCENARIOS, type DeploymentFigures } from './deployments';

/**
 * The gateway without workers and with several numbers of them, in turns. Nothing
 * is pinned: with load, upstream and database they have all cores of the machine.
 */
export async function measureWorkers(
  options: Options,
  processes: Processes,
  say: (text: string) => void,
): Promise<DeploymentFigures[]> {
  const upstream = await processes.startRole('others', 'upstream');
  const deployments = [];
  for (const workers of [0, ...options.sizes]) {
    say(`Starting: ${nameOf(workers)}`);
    const gateway = await startGateway(processes, undefined, upstream.port, { workers });
    const target = { ...targetOf(nameOf(workers), gateway), nodePids: () => gateway.nodePids() };
    const factor = workers === 0 ? 1 : COMPILE_FACTOR;
    await compile([target], { ...options, compileMs: factor * options.compileMs });
    deployments.push({ gateway, target });
  }
  const targets = deployments.map(({ target }) => target);
  const rows: Row[] = [];
  for (const scenario of SCENARIOS) {
    say(`Measuring: ${scenarioName(scenario)}`);
    rows.push(...(await measureScenario(scenario, targets, options)));
  }
  const figures: DeploymentFigures[] = [];
  for (const { gateway, target } of deployments) {
    const { exact } = await checkMoney(gateway, target.tally);
    figures.push({
      name: target.name,
      rows: rows.filter((row) => row.target === target.name),
      isMoneyExact: exact,
    });
  }
  return figures;
}

function nameOf(workers: number): string {
  if (workers === 0) return 'no workers';
  return workers === 1 ? '1 worker' : `${workers} workers`;
}

export const renderWorkers = (figures: readonly DeploymentFigures[]): string =>
  renderDeployments(figures, 'of it the main process');
