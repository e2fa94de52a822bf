import type { MachineFacts } from '../machine';
import { compile, measureScenario, scenarioName, type Row, type Scenario } from '../measure';
import type { MoneyCheck } from '../money-check';
import type { Options } from '../options';
import type { Target } from '../targets';
import { PEERS, type Duties } from './peers';

export const PEER_SCENARIOS = {
  calm: { kind: 'whole', connections: 1 },
  busy: { kind: 'whole', connections: 32 },
  streams: { kind: 'stream', connections: 32 },
} as const satisfies Record<string, Scenario>;

/** One line of the table. */
export interface PeerLine {
  readonly name: string;
  readonly title: string;
  readonly duties: Duties;
  /** Why there are no figures. */
  readonly notMeasured: string | undefined;
}

export interface PeerResults {
  readonly machine: MachineFacts;
  readonly startedAt: string;
  readonly lines: readonly PeerLine[];
  readonly rows: readonly Row[];
  readonly money: MoneyCheck | null;
}

const NOTHING: Duties = { auth: 'no', limits: 'no', billing: 'no' };

/** In the order of the table; the peers with the reasons of those that are missing. */
export function peerLines(notMeasured: ReadonlyMap<string, string>): PeerLine[] {
  const own = { notMeasured: undefined };
  return [
    { ...own, name: 'node', title: 'bare `node:http` proxy', duties: NOTHING },
    { ...own, name: 'express', title: 'bare express proxy', duties: NOTHING },
    {
      ...own,
      name: 'gateway',
      title: '**this gateway**',
      duties: { auth: 'keys', limits: 'four, and a budget', billing: 'hold and settle, durable' },
    },
    ...PEERS.map(({ name, title, version, duties }) => ({
      ...{ name, title: `${title} ${version}`, duties, notMeasured: notMeasured.get(name) },
    })),
  ];
}

/** All of them under the same load, in turns. */
export async function measurePeers(
  targets: readonly Target[],
  options: Options,
  say: (text: string) => void,
): Promise<Row[]> {
  say('Warming up');
  await compile(targets, options);
  const rows: Row[] = [];
  for (const scenario of Object.values(PEER_SCENARIOS)) {
    say(`Measuring: ${scenarioName(scenario)}`);
    rows.push(...(await measureScenario(scenario, targets, options)));
  }
  return rows;
}
