import { setTimeout as delay } from 'node:timers/promises';
import { createChatClient, isServed, startTraffic, type Traffic } from '@gateway/load';
import { seededRandom, spendingOf } from '@gateway/test-support';
import { audit, type Audit } from './audit';
import { allFaults, type Fault } from './faults';
import { MODEL, openChaosLab, type ChaosLab, type ChaosLabOptions } from './chaos-lab';
import type { Options } from './options';
import { faultsOfImpacts, type Broken } from './report';
import { untilSettled } from './settled';
import { GRACE_MS, impactOf, SPAN_MS } from './timeline';

export interface ChaosResult {
  readonly broken: readonly Broken[];
  readonly audit: Audit;
}

/** Until the load is usual, before the first fault; it is measured in the second half. */
const WARM_UP_MS = 8_000;
/** With everything whole, between two faults. */
const QUIET_MS = 3_000;

/** One history of faults, and the sums afterwards. */
export async function runChaos(
  options: Options,
  laboratoryOptions: ChaosLabOptions,
  say: (text: string) => void,
): Promise<ChaosResult> {
  const random = seededRandom(options.seed);
  const laboratory = await openChaosLab(laboratoryOptions);
  const { cluster, tenants } = laboratory;
  const client = createChatClient(cluster.dev.baseUrl, MODEL);
  try {
    const faults = choose(allFaults(cluster, options), options);
    const traffic = startTraffic({ client, tenants, random, name: 'chaos', rate: options.rate });
    await delay(WARM_UP_MS);
    const usualPerSecond = rateOf(traffic);
    say(`${usualPerSecond.toFixed(0)} answers per second while nothing is broken`);
    const broken: Broken[] = [];
    const endMs = Date.now() + options.minutes * 60_000;
    const order = options.only === undefined ? random.shuffle(faults) : faults;
    for (let next = 0; options.only === undefined ? Date.now() < endMs : next < order.length; next += 1) {
      const fault = order[next % order.length] as Fault;
      say(fault.name);
      broken.push(await breakAndMend(fault, laboratory, traffic, usualPerSecond));
    }
    await traffic.stop();
    const databaseUrl = (database: string): string => {
      const url = new URL(cluster.engines.postgres.adminUrl);
      url.pathname = `/${database}`;
      return url.toString();
    };
    const left = await untilSettled(laboratory, databaseUrl);
    const found = await audit({
      attempts: traffic.attempts,
      seen: laboratory.emulator.requests(),
      credits: await readCredits(laboratory),
      databaseUrl,
      lostGenerations: broken.some(({ fault }) => fault.losesGenerations),
    });
    const violations = [...left, ...faultsOfImpacts(broken, options), ...found.faults];
    return { broken, audit: { ...found, faults: violations } };
  } finally {
    await client.close();
    await laboratory.stop();
  }
}

function choose(faults: readonly Fault[], { only }: Options): readonly Fault[] {
  const chosen = faults.filter(({ name }) => only === undefined || name.includes(only));
  if (chosen.length === 0) throw new Error(`--only: no fault's name holds '${only}'`);
  return chosen;
}

async function breakAndMend(
  fault: Fault,
  { cluster }: ChaosLab,
  traffic: Traffic,
  usualPerSecond: number,
): Promise<Broken> {
  const beganMs = Date.now();
  await fault.run();
  const mendedMs = Date.now();
  await cluster.ready();
  // Long enough to see what became of the requests after the first moments.
  await delay(Math.max(QUIET_MS, beganMs + GRACE_MS + SPAN_MS - Date.now()));
  const window = { beganMs, mendedMs, endedMs: Date.now() };
  return { fault, impact: impactOf(traffic.attempts, window, usualPerSecond) };
}

function rateOf({ attempts }: Traffic): number {
  const sinceMs = Date.now() - WARM_UP_MS / 2;
  const good = attempts.filter((each) => isServed(each) && each.endedMs >= sinceMs);
  return good.length / (WARM_UP_MS / 2_000);
}

async function readCredits({ dashboard, creditNanoUsd }: ChaosLab) {
  const entries = [...creditNanoUsd].map(async ([organization, credit]) => {
    const { usedNanoUsd } = await spendingOf(dashboard, organization);
    return [organization, { creditNanoUsd: credit, usedNanoUsd }] as const;
  });
  return new Map(await Promise.all(entries));
}
