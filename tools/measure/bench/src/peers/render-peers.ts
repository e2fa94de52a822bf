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
  'streams/s',
  'CPU µs/stream',
  'RSS MiB',
];
/** What is text. */
const LEFT_COLUMNS = 4;

/** The table that the project's README quotes. */
export function renderPeers({ machine, startedAt, lines, rows, money }: PeerResults): string {
  const table = markdownTable([HEAD, ...lines.map((line) => cells(line, rows))], LEFT_COLUMNS);
  return [
    `${startedAt.slice(0, 10)}; ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}. Pinned: ${machine.pinned}.`,
    'CPU is of the measured process, and after the + of its PostgreSQL. Streams are of 100 chunks, 32 at once; RSS is after them.',
    '',
    table,
    ...lines.flatMap(({ title, notMeasured }) =>
      notMeasured === undefined ? [] : ['', `${title} was not measured: ${notMeasured}`],
    ),
    ...(money === null ? [] : ['', `Money: ${money.text}`]),
    '',
  ].join('\n');
}

function cells({ name, title, duties, notMeasured }: PeerLine, rows: readonly Row[]): string[] {
  const told = [title, duties.auth, duties.limits, duties.billing];
  if (notMeasured !== undefined) return [...told, 'not measured'];
  const row = (scenario: Scenario) =>
    rows.find((each) => each.target === name && each.scenario === scenarioName(scenario));
  const [calm, busy, streams] = [
    row(PEER_SCENARIOS.calm),
    row(PEER_SCENARIOS.busy),
    row(PEER_SCENARIOS.streams),
  ];
  return [
    ...told,
    calm?.p50Ms.toFixed(2) ?? '',
    whole(busy?.requestsPerSecond),
    busy?.p50Ms.toFixed(1) ?? '',
    cpu(busy),
    whole(streams?.requestsPerSecond),
    cpu(streams),
    whole(streams?.residentMiB),
  ];
}

function cpu(row: Row | undefined): string {
  const database = whole(row?.databaseCpuMicrosecondsPerRequest);
  return `${whole(row?.cpuMicrosecondsPerRequest)}${database === '' ? '' : ` + ${database}`}`;
}

function whole(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : Math.round(value).toLocaleString('en');
}
