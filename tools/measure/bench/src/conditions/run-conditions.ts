import { type Clock, type UnixMs } from '@gateway/base';
import { startGateway } from '../gateway';
import { machineFacts, type Cores, type MachineFacts } from '../machine';
import { compile, measureScenario, scenarioName, type Row, type Scenario } from '../measure';
import { checkMoney, type MoneyCheck } from '../money-check';
import { newTally } from '../load';
import { type Options } from '../options';
import { type Child, type Processes } from '../processes';
import { fillLedger, fillUsage } from '../scale/fill-history';
import { openScaleDatabase, type ScaleDatabase } from '../scale/scale-database';
import { startTargets, targetOf, type Target } from '../targets';
import { clientConditions, historyCondition, organizationsCondition } from './conditions';
import { measureFirstToken, type FirstTokenRow } from './first-token';
import { addOrganizations } from './organizations';

/** The bench's first organization makes them as many as this and one. */
const ORGANIZATIONS = 10_000;
const DATABASE_SETTINGS = { max_connections: '200' };

export interface ConditionResults {
  readonly machine: MachineFacts;
  readonly startedAt: string;
  readonly rows: readonly Row[];
  readonly firstToken: readonly FirstTokenRow[];
  readonly money: MoneyCheck | null;
}

type Say = (text: string) => void;

/** One thing changed at a time: what clients send, how many organizations they are of, and how much is stored. */
export async function runConditions(
  options: Options,
  processes: Processes,
  cores: Cores | undefined,
  say: Say,
): Promise<ConditionResults> {
  const startedAt = new Date().toISOString();
  const machine = machineFacts(cores);
  const bare = {
    ...options,
    targets: options.targets.filter((name) => name !== 'gateway' && name !== 'relay'),
  };
  const { targets, upstreamPort } = await startTargets(bare, processes, cores);
  const proxies = targets.filter(({ name }) => name !== 'upstream');
  const measure = async (scenario: Scenario, measured: readonly Target[]) => {
    say(`Measuring: ${scenarioName(scenario)}`);
    return measureScenario(scenario, measured, options);
  };

  const rows: Row[] = [];
  const onEmpty = await withGateway(
    { processes, cores, upstreamPort },
    undefined,
    say,
    async (gateway, money) => {
      const measured = [...proxies, gateway];
      say('Warming up');
      await compile(measured, options);
      for (const scenario of clientConditions()) rows.push(...(await measure(scenario, measured)));
      say('Measuring: time to the first token');
      const firstToken = await measureFirstToken([...targets, gateway], options);
      // The money of others is not what the first organization was charged.
      const others = { ...gateway, tally: newTally() };
      rows.push(...(await measure(organizationsCondition(ORGANIZATIONS), [...proxies, others])));
      return { firstToken, money: await money() };
    },
  );
  const { generations } = options;
  if (generations !== undefined) {
    await withGateway({ processes, cores, upstreamPort }, generations, say, async (gateway) => {
      const measured = [...proxies, gateway];
      await compile([gateway], options);
      rows.push(...(await measure(historyCondition(generations), measured)));
      const where = `, ${generations.toLocaleString('en')} generations`;
      rows.push(...(await measure(organizationsCondition(ORGANIZATIONS, where), measured)));
    });
  }
  return { machine, startedAt, rows, ...onEmpty };
}

interface Place {
  readonly processes: Processes;
  readonly cores: Cores | undefined;
  readonly upstreamPort: number;
}

/** A gateway on a database of its own that holds so many generations; both are gone afterwards. */
async function withGateway<T>(
  { processes, cores, upstreamPort }: Place,
  generations: number | undefined,
  say: Say,
  work: (gateway: Target, money: () => Promise<MoneyCheck>) => Promise<T>,
): Promise<T> {
  const database = await openScaleDatabase(DATABASE_SETTINGS);
  let child: Child | undefined;
  try {
    if (generations !== undefined) await fill(database, generations, say);
    say('Starting the gateway');
    const gateway = await startGateway(processes, cores, upstreamPort, { database });
    child = gateway.child;
    say(`Adding ${ORGANIZATIONS.toLocaleString('en')} organizations`);
    await addOrganizations(database, ORGANIZATIONS);
    const target = targetOf('gateway', gateway);
    return await work(target, () => checkMoney(gateway, target.tally));
  } finally {
    if (child !== undefined) await processes.stop(child);
    await database.remove();
  }
}

/** Before the gateway starts, as if it had run for sixty days; its event log has been trimmed and is empty. */
async function fill(database: ScaleDatabase, generations: number, say: Say): Promise<void> {
  const clock: Clock = { now: () => Date.now() as UnixMs };
  say(`Filling ledger and usage with ${generations.toLocaleString('en')} generations`);
  const { untilUnixMs } = await fillLedger(database, clock, generations);
  await fillUsage(database, generations, untilUnixMs);
}
