import type { MachineFacts } from '../machine';
import { compile, measureScenario, scenarioName, type Row, type Scenario } from '../measure';
import type { ChargesCheck } from '../check-charges';
import type { Options } from '../options';
import type { Target } from '../targets';
import { PEERS, type Features } from './peers';

export const PEER_SCENARIOS = {
  sequential: { kind: 'non-streaming', connections: 1 },
  concurrent: { kind: 'non-streaming', connections: 32 },
  crowded: { kind: 'non-streaming', connections: 256 },
  streams: { kind: 'stream', connections: 32 },
} as const satisfies Record<string, Scenario>;

/** One line of the table. */
export interface PeerLine {
  readonly name: string;
  readonly title: string;
  readonly features: Features;
  /** Why there are no figures; undefined if it was measured. */
  readonly failureReason: string | undefined;
}

export interface PeerResults {
  readonly machine: MachineFacts;
  readonly startedAt: string;
  readonly lines: readonly PeerLine[];
  readonly rows: readonly Row[];
  readonly charges: ChargesCheck | null;
}

const NO_FEATURES: Features = { auth: 'no', limits: 'no', billing: 'no' };

/** The lines of the table in order, including peers that could not be measured. */
export function peerLines(failureReason: ReadonlyMap<string, string>): PeerLine[] {
  const own = { failureReason: undefined };
  return [
    { ...own, name: 'node', title: 'bare `node:http` proxy', features: NO_FEATURES },
    { ...own, name: 'express', title: 'bare express proxy', features: NO_FEATURES },
    { ...own, name: 'lean', title: 'lean express proxy', features: NO_FEATURES },
    {
      ...own,
      name: 'gateway',
      title: '**this gateway**',
      features: { auth: 'keys', limits: 'four and a budget', billing: 'hold and settle, durable' },
    },
    ...PEERS.map(({ name, title, version, features }) => ({
      name,
      title: `${title} ${version}`,
      features,
      failureReason: failureReason.get(name),
    })),
  ];
}

/** Measures all targets under the same load, in turn. */
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
