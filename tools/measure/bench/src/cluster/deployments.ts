import { markdownTable } from '@gateway/test-support';
import { scenarioName, type Row, type Scenario } from '../measure';

/** Figures of one deployment. */
export interface DeploymentFigures {
  readonly name: string;
  readonly rows: readonly Row[];
  /** CPU time of the Node.js processes per chunk of an open stream; null if unknown. */
  readonly cpuMicrosecondsPerChunk: number | null;
  readonly areChargesExact: boolean;
}

/** The scenarios in which each deployment is measured. */
export const SCENARIOS: readonly Scenario[] = [
  { kind: 'non-streaming', connections: 1 },
  { kind: 'non-streaming', connections: 32 },
  { kind: 'non-streaming', connections: 256 },
  { kind: 'stream', connections: 32 },
];
/** With several processes, each gets a share of the requests and takes longer to compile its code. */
export const COMPILE_FACTOR = 3;

/** A Markdown table for each scenario; × is relative to the first deployment. */
export function renderDeployments(figures: readonly DeploymentFigures[]): string {
  const columns = [
    'deployment',
    'requests/s',
    '×',
    'p50 ms',
    'p99 ms',
    'Node CPU µs',
    '×',
    'datastore CPU µs',
  ];
  const lines: string[] = [];
  for (const scenario of SCENARIOS) {
    const title = scenarioName(scenario);
    const rows = [columns];
    const rowOf = ({ rows }: DeploymentFigures) => rows.find((row) => row.scenario === title);
    const first = figures[0] && rowOf(figures[0]);
    for (const each of figures) {
      const row = rowOf(each);
      if (row === undefined) continue;
      const cpu = row.cpuMicrosecondsPerRequest;
      rows.push([
        each.name,
        row.requestsPerSecond.toFixed(0),
        ratio(row.requestsPerSecond, first?.requestsPerSecond),
        row.p50Ms.toFixed(1),
        row.p99Ms.toFixed(1),
        rounded(cpu),
        ratio(cpu, first?.cpuMicrosecondsPerRequest),
        rounded(row.databaseCpuMicrosecondsPerRequest),
      ]);
    }
    lines.push(title, '', markdownTable(rows, 1), '');
  }
  const chunks = figures.map(({ name, cpuMicrosecondsPerChunk: cpu }) => [
    name,
    cpu?.toFixed(1) ?? '–',
    ratio(cpu, figures[0]?.cpuMicrosecondsPerChunk),
  ]);
  lines.push('streams with a chunk each 100 ms', '');
  lines.push(markdownTable([['deployment', 'Node CPU µs/chunk', '×'], ...chunks], 1), '');
  const wrong = figures.filter(({ areChargesExact }) => !areChargesExact).map(({ name }) => name);
  lines.push(
    wrong.length === 0
      ? 'Charges are exact in every deployment.'
      : `Charges are wrong in: ${wrong.join(', ')}`,
  );
  return `${lines.join('\n')}\n`;
}

const rounded = (value: number | null): string => (value === null ? '–' : value.toFixed(0));

const ratio = (value: number | null, base: number | null | undefined): string =>
  value && base ? (value / base).toFixed(2) : '–';
