import { markdownTable } from '@gateway/test-support';
import { scenarioName, type Row, type Scenario } from '../measure';
import { PEER_SCENARIOS, type PeerLine, type PeerResults } from './measure-peers';

const HEAD = [
  '',
  'auth',
  'limits',
  'billing',
  'c=1 p50 ms',
  'c=32 requests/s',
  'p50 ms',
  'CPU µs/request',
  'c=256 CPU µs/request',
  'streams/s',
  'CPU µs/stream',
  'RSS MiB',
];
/** Columns that are text. */
const LEFT_COLUMNS = 4;

/** The table that the project's README quotes. */
export function renderPeers({ machine, startedAt, lines, rows, charges }: PeerResults): string {
  const table = markdownTable([HEAD, ...lines.map((line) => cells(line, rows))], LEFT_COLUMNS);
  return [
    `${startedAt.slice(0, 10)}; ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}. Pinned: ${machine.pinned}.`,
    'CPU is that of the measured process + its PostgreSQL. Streams have 100 chunks, 32 are concurrent; RSS is measured after them.',
    '',
    table,
    ...lines.flatMap(({ title, failureReason }) =>
      failureReason === undefined ? [] : ['', `${title} was not measured: ${failureReason}`],
    ),
    ...(charges === null ? [] : ['', `Charges: ${charges.text}`]),
    '',
  ].join('\n');
}

function cells({ name, title, features, failureReason }: PeerLine, rows: readonly Row[]): string[] {
  const description = [title, features.auth, features.limits, features.billing];
  if (failureReason !== undefined) return [...description, 'not measured'];
  const row = (scenario: Scenario) =>
    rows.find((each) => each.target === name && each.scenario === scenarioName(scenario));
  const [sequential, concurrent, crowded, streams] = [
    row(PEER_SCENARIOS.sequential),
    row(PEER_SCENARIOS.concurrent),
    row(PEER_SCENARIOS.crowded),
    row(PEER_SCENARIOS.streams),
  ];
  return [
    ...description,
    sequential?.p50Ms.toFixed(2) ?? '',
    rounded(concurrent?.requestsPerSecond),
    concurrent?.p50Ms.toFixed(1) ?? '',
    cpu(concurrent),
    cpu(crowded),
    rounded(streams?.requestsPerSecond),
    cpu(streams),
    rounded(streams?.residentMiB),
  ];
}

function cpu(row: Row | undefined): string {
  const database = rounded(row?.databaseCpuMicrosecondsPerRequest);
  return `${rounded(row?.cpuMicrosecondsPerRequest)}${database === '' ? '' : ` + ${database}`}`;
}

function rounded(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : Math.round(value).toLocaleString('en');
}
