import { markdownTable } from '@gateway/test-support';
import { scenarioName, type Row, type Scenario } from '../measure';

/** What one deployment took and gave. */
export interface DeploymentFigures {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly isMoneyExact: boolean;
}

/** What each is measured in. */
export const SCENARIOS: readonly Scenario[] = [
  { kind: 'whole', connections: 1 },
  { kind: 'whole', connections: 32 },
  { kind: 'whole', connections: 256 },
  { kind: 'stream', connections: 32 },
];
/** Each of many processes gets a share of the requests, and so compiles its code later than one that gets them all. */
export const COMPILE_FACTOR = 3;

/** A table in Markdown for each scenario; × is relative to the first deployment. */
export function renderDeployments(figures: readonly DeploymentFigures[]): string {
  const columns = ['deployment', 'requests/s', '×', 'p50 ms', 'p99 ms', 'Node CPU µs', '×', 'engines µs'];
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
        whole(cpu),
        ratio(cpu, first?.cpuMicrosecondsPerRequest),
        whole(row.databaseCpuMicrosecondsPerRequest),
      ]);
    }
    lines.push(title, '', markdownTable(rows, 1), '');
  }
  const wrong = figures.filter(({ isMoneyExact }) => !isMoneyExact).map(({ name }) => name);
  lines.push(
    wrong.length === 0 ? 'The money is exact everywhere.' : `The money is wrong: ${wrong.join(', ')}`,
  );
  return `${lines.join('\n')}\n`;
}

const whole = (value: number | null): string => (value === null ? '–' : value.toFixed(0));

const ratio = (value: number | null, base: number | null | undefined): string =>
  value && base ? (value / base).toFixed(2) : '–';
