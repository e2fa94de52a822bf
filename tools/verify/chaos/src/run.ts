import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '@gateway/cluster';
import { createChatClient, isServed, startTraffic, type Traffic } from '@gateway/load';
import { seededRandom, spendingOf } from '@gateway/test-support';
import { audit, type Audit } from './audit';
import { allFaults, type Fault } from './faults';
import { openChaosTestEnv, type ChaosTestEnv, type ChaosTestEnvOptions } from './chaos-test-env';
import type { Options } from './options';
import { MODEL, startPriceChanges } from './price-changes';
import { problemsOfImpacts, type FaultResult } from './report';
import { waitUntilIdle } from './wait-until-idle';
import { GRACE_MS, impactOf, SPAN_MS } from './timeline';

export interface ChaosResult {
  readonly results: readonly FaultResult[];
  readonly audit: Audit;
}

/** Before the first fault; normal throughput is measured in the second half. */
const WARM_UP_MS = 8_000;
/** Covers some of the requests of a run. */
const RUN_BUDGET_USD = '0.0005';
/** Without faults, between two faults. */
const PAUSE_MS = 3_000;

/** Runs a sequence of faults under load, then the audit. */
export async function runChaos(
  options: Options,
  testEnvOptions: ChaosTestEnvOptions,
  say: (text: string) => void,
  faultsOf: (cluster: Cluster, options: Options) => readonly Fault[] = allFaults,
): Promise<ChaosResult> {
  const random = seededRandom(options.seed);
  const testEnv = await openChaosTestEnv(testEnvOptions);
  const { cluster, tenants } = testEnv;
  const client = createChatClient(cluster.dev.baseUrl, MODEL);
  try {
    const faults = choose(faultsOf(cluster, options), options);
    const traffic = startTraffic({
      client,
      tenants,
      random,
      name: 'chaos',
      rate: options.rate,
      runBudgetUsd: RUN_BUDGET_USD,
    });
    const priceChanges = startPriceChanges(testEnv.dashboard, random);
    await delay(WARM_UP_MS);
    const normalPerSecond = rateOf(traffic);
    say(`${normalPerSecond.toFixed(0)} responses per second without faults`);
    const results: FaultResult[] = [];
    const endMs = Date.now() + options.minutes * 60_000;
    const order = options.only === undefined ? random.shuffle(faults) : faults;
    for (let next = 0; options.only === undefined ? Date.now() < endMs : next < order.length; next += 1) {
      const fault = order[next % order.length] as Fault;
      say(fault.name);
      results.push(await injectFault(fault, testEnv, traffic, normalPerSecond));
    }
    await priceChanges.stop();
    await traffic.stop();
    const pending = await waitUntilIdle(testEnv);
    const found = await audit({
      attempts: traffic.attempts,
      seen: testEnv.emulator.requests(),
      credits: await readCredits(testEnv),
      databaseUrl: testEnv.databaseUrl,
      priceChanges: priceChanges.published,
      lostGenerations: results.some(({ fault }) => fault.losesGenerations),
    });
    const violations = [...pending, ...problemsOfImpacts(results, options), ...found.problems];
    return { results, audit: { ...found, problems: violations } };
  } finally {
    await client.close();
    await testEnv.stop();
  }
}

function choose(faults: readonly Fault[], { only }: Options): readonly Fault[] {
  const chosen = faults.filter(({ name }) => only === undefined || name.includes(only));
  if (chosen.length === 0) throw new Error(`--only: no fault's name contains '${only}'`);
  return chosen;
}

async function injectFault(
  fault: Fault,
  { cluster }: ChaosTestEnv,
  traffic: Traffic,
  normalPerSecond: number,
): Promise<FaultResult> {
  const startedMs = Date.now();
  await fault.run();
  const recoveredMs = Date.now();
  await cluster.ready();
  // Long enough to measure throughput after the grace period.
  await delay(Math.max(PAUSE_MS, startedMs + GRACE_MS + SPAN_MS - Date.now()));
  const window = { startedMs, recoveredMs, endedMs: Date.now() };
  return { fault, impact: impactOf(traffic.attempts, window, normalPerSecond) };
}

function rateOf({ attempts }: Traffic): number {
  const sinceMs = Date.now() - WARM_UP_MS / 2;
  const served = attempts.filter((each) => isServed(each) && each.endedMs >= sinceMs);
  return served.length / (WARM_UP_MS / 2_000);
}

async function readCredits({ dashboard, creditNanoUsd }: ChaosTestEnv) {
  const entries = [...creditNanoUsd].map(async ([organization, credit]) => {
    const { usedNanoUsd } = await spendingOf(dashboard, organization);
    return [organization, { creditNanoUsd: credit, usedNanoUsd }] as const;
  });
  return new Map(await Promise.all(entries));
}
