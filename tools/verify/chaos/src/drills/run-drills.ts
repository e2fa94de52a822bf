import path from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createChatClient, startTraffic } from '@gateway/load';
import { seededRandom } from '@gateway/test-support';
import { MODEL, openLaboratory, type Laboratory, type LaboratoryOptions } from '../laboratory';
import { DRILLS, type Drill } from './drills';
import { startPrometheus, type Prometheus } from './prometheus';

export interface DrillOptions {
  /** A Prometheus. */
  readonly program: string;
  /** Only drills whose fault or alert holds this text. */
  readonly only: string | undefined;
  /** Requests per second. */
  readonly rate: number;
}

/** An hour is a minute, so that ten minutes of waiting are ten seconds. */
const FACTOR = 60;
const WARM_UP_MS = 15_000;
const POLL_MS = 500;
/** The ledger compares its books once a minute. */
const PATIENCE_MS = 150_000;
/** So that one alert is over before the next fault begins. */
const CALM_PATIENCE_MS = 120_000;

/**
 * Brings about the fault of each alert, waits for the alert of a real Prometheus
 * over the chart's own rules, and asks it what the runbook has one ask.
 *
 * @returns how many alerts did not come.
 */
export async function runDrills(
  { program, only, rate }: DrillOptions,
  laboratoryOptions: LaboratoryOptions,
  say: (text: string) => void,
): Promise<number> {
  const chosen = DRILLS.filter(
    ({ fault, alerts }) => only === undefined || [fault, ...alerts].some((text) => text.includes(only)),
  );
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gateway-drills-'));
  const laboratory = await openLaboratory(laboratoryOptions);
  const { cluster, tenants } = laboratory;
  const client = createChatClient(cluster.dev.baseUrl, MODEL);
  let prometheus: Prometheus | undefined;
  let missed = 0;
  try {
    prometheus = await startPrometheus({
      program,
      directory,
      targets: cluster.replicas.map(({ adminUrl }) => new URL(adminUrl).host),
      alertsDirectory: path.resolve(laboratoryOptions.programs, '../helm/inference-gateway/alerts'),
      factor: FACTOR,
    });
    const random = seededRandom(laboratoryOptions.seed);
    const traffic = startTraffic({ client, tenants, random, name: 'drill', rate });
    await delay(WARM_UP_MS);
    for (const drill of chosen) missed += await runDrill(drill, laboratory, prometheus, say);
    await traffic.stop();
    return missed;
  } finally {
    await prometheus?.stop();
    await client.close();
    await laboratory.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runDrill(
  { fault, alerts, queries, patienceMs = PATIENCE_MS, begin }: Drill,
  laboratory: Laboratory,
  prometheus: Prometheus,
  say: (text: string) => void,
): Promise<number> {
  await untilCalm(alerts, prometheus, (text) => say(`before: ${text.trim()}`));
  const already = new Set((await prometheus.firing()).map(({ name }) => name));
  say(`fault: ${fault}${already.size > 0 ? ` (firing before: ${[...already].join(', ')})` : ''}`);
  const beganMs = Date.now();
  const missing = new Set(alerts);
  const beginning = begin(laboratory);
  const seenToFire = async (): Promise<void> => {
    for (const untilMs = Date.now() + patienceMs; missing.size > 0 && Date.now() < untilMs;) {
      for (const { name, labels } of await prometheus.firing()) {
        if (!missing.delete(name)) continue;
        const seconds = ((Date.now() - beganMs) / 1_000).toFixed(0);
        say(`  ${name} fires after ${seconds} s ${JSON.stringify(labels)}`);
      }
      await delay(POLL_MS);
    }
  };
  const [mend] = await Promise.all([beginning, seenToFire()]);
  for (const query of queries) {
    const samples = await prometheus.query(query);
    say(`  ${query}\n         ${samples.slice(0, 6).join('\n         ') || 'nothing'}`);
  }
  await mend();
  for (const name of missing) say(`  ${name} DID NOT FIRE`);
  await untilCalm(alerts, prometheus, say);
  await laboratory.cluster.ready();
  return missing.size;
}

async function untilCalm(
  alerts: readonly string[],
  prometheus: Prometheus,
  say: (text: string) => void,
): Promise<void> {
  const beganMs = Date.now();
  for (;;) {
    const left = (await prometheus.firing()).filter(({ name }) => alerts.includes(name));
    const seconds = ((Date.now() - beganMs) / 1_000).toFixed(0);
    if (left.length === 0) return say(`  over ${seconds} s after it was mended`);
    if (Date.now() - beganMs > CALM_PATIENCE_MS) {
      return say(`  ${left.map(({ name }) => name).join(', ')} still fires ${seconds} s after it was mended`);
    }
    await delay(POLL_MS);
  }
}
