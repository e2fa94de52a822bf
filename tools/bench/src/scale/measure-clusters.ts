import { startGateway } from '../gateway';
import { newTally } from '../load';
import { descendants, programOf } from '../machine';
import { compile, measureScenario, scenarioName, type Row, type Scenario } from '../measure';
import { checkMoney } from '../money-check';
import { type Options } from '../options';
import { type Processes } from '../processes';
import { type Target } from '../targets';

/** What one deployment took and gave. */
export interface ClusterFigures {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly isMoneyExact: boolean;
}

type WithProcesses = <T>(cores: undefined, work: (processes: Processes) => Promise<T>) => Promise<T>;

const SCENARIOS: readonly Scenario[] = [
  { kind: 'whole', connections: 1 },
  { kind: 'whole', connections: 32 },
  { kind: 'whole', connections: 256 },
  { kind: 'stream', connections: 32 },
];
/** Each of many processes gets a share of the requests, and so compiles its code later than one that gets them all. */
const CLUSTER_COMPILE_FACTOR = 3;

/**
 * The gateway in one process beside clusters on the same machine, one after the
 * other: their processes share all cores with the load, so the cost per request
 * says more than the requests per second.
 */
export async function measureClusters(
  options: Options,
  withProcesses: WithProcesses,
  say: (text: string) => void,
): Promise<ClusterFigures[]> {
  const figures: ClusterFigures[] = [];
  for (const size of [0, ...options.clusterSizes]) {
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
): Promise<ClusterFigures> {
  const upstream = await processes.startRole('others', 'upstream');
  const gateway = await startGateway(processes, undefined, upstream.port, {
    clusterArguments: argumentsOf(size),
  });
  const { pid } = gateway.child;
  // Of a cluster the first process is what stands for an orchestrator and an ingress: no part of its cost.
  const isNode = (each: number): boolean => programOf(each) === 'node';
  const target: Target = {
    name,
    destination: gateway.destination,
    pid,
    nodePids: () => (size === 0 ? [pid] : descendants(pid).filter(isNode)),
    databasePids: () => descendants(pid).filter((each) => !isNode(each)),
    tally: newTally(),
  };
  const factor = size === 0 ? 1 : CLUSTER_COMPILE_FACTOR;
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

export function renderClusters(figures: readonly ClusterFigures[]): string {
  const lines: string[] = [];
  for (const scenario of SCENARIOS) {
    const title = scenarioName(scenario);
    lines.push(
      `${title}`,
      '',
      '| deployment | requests/s | p50 ms | p99 ms | Node CPU µs | × one process | engines µs |',
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    );
    const rowOf = ({ rows }: ClusterFigures) => rows.find((row) => row.scenario === title);
    const base = figures[0] && rowOf(figures[0])?.cpuMicrosecondsPerRequest;
    for (const each of figures) {
      const row = rowOf(each);
      if (row === undefined) continue;
      const cpu = row.cpuMicrosecondsPerRequest;
      lines.push(
        `| ${each.name} | ${row.requestsPerSecond.toFixed(0)} | ${row.p50Ms.toFixed(1)} | ${row.p99Ms.toFixed(1)} | ` +
          `${whole(cpu)} | ${cpu && base ? (cpu / base).toFixed(1) : '–'} | ${whole(row.databaseCpuMicrosecondsPerRequest)} |`,
      );
    }
    lines.push('');
  }
  const wrong = figures.filter(({ isMoneyExact }) => !isMoneyExact).map(({ name }) => name);
  lines.push(
    wrong.length === 0 ? 'The money is exact everywhere.' : `The money is wrong: ${wrong.join(', ')}`,
  );
  return `${lines.join('\n')}\n`;
}

const whole = (value: number | null): string => (value === null ? '–' : value.toFixed(0));
