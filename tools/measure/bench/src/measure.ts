import { requestBody, slowPrompt, STREAM_CHUNKS, type Kind } from './canned';
import { runLoad, runOnce, type Measured } from './load';
import { cpuMicroseconds, residentBytes } from './machine';
import type { Options } from './options';
import type { Target } from './targets';

export interface Scenario {
  readonly kind: Kind;
  readonly connections: number;
}

export const SCENARIOS: readonly Scenario[] = [
  { kind: 'non-streaming', connections: 1 },
  { kind: 'non-streaming', connections: 32 },
  { kind: 'non-streaming', connections: 256 },
  { kind: 'stream', connections: 1 },
  { kind: 'stream', connections: 32 },
];

/** The figures of a target in a scenario, over all rounds. */
export interface Row {
  readonly scenario: string;
  readonly target: string;
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** 0 if the scenario does not stream. */
  readonly chunksPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Time to the first byte of a stream; null if the scenario does not stream. */
  readonly firstByteP50Ms: number | null;
  /** CPU time of the Node.js processes per request, in µs; null if unknown. */
  readonly cpuMicrosecondsPerRequest: number | null;
  /** CPU time of PostgreSQL and other datastores per request, in µs; null if the target has none. */
  readonly databaseCpuMicrosecondsPerRequest: number | null;
  readonly residentMiB: number | null;
}

export interface SlowStreamsRow {
  readonly target: string;
  readonly streams: number;
  readonly seconds: number;
  readonly initialResidentMiB: number | null;
  readonly peakResidentMiB: number | null;
}

const MEBIBYTE = 1024 * 1024;
const SAMPLE_EVERY_MS = 100;
const SLOW_WARM_UP_STREAMS = 32;
/** With more streams, each stream sends chunks less often. */
const MAX_CHUNKS_PER_TICK = 1_000;

export function scenarioName({ kind, connections }: Scenario): string {
  return `${kind === 'non-streaming' ? 'non-streaming' : `stream of ${STREAM_CHUNKS}`}, c=${connections}`;
}

interface Round {
  readonly measured: Measured;
  readonly cpu: number | undefined;
  readonly databaseCpu: number | undefined;
}

/**
 * Sends load to every target without measuring, so that its code is compiled.
 */
export async function compile(
  targets: readonly Target[],
  { compileMs }: Options,
  kinds: readonly Kind[] = ['non-streaming', 'stream'],
): Promise<void> {
  for (const target of targets) {
    for (const kind of kinds) {
      await measureRound({ kind, connections: 32 }, target, compileMs / kinds.length, 1);
    }
  }
}

/** Measures every target in a scenario, taking turns, and merges the rounds of each. */
export async function measureScenario(
  scenario: Scenario,
  targets: readonly Target[],
  options: Options,
): Promise<Row[]> {
  const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const target of targets) {
      rounds.get(target)?.push(await measureRound(scenario, target, options.warmUpMs, options.windowMs));
    }
  }
  return targets.map((target) => merge(scenario, target, rounds.get(target) ?? []));
}

async function measureRound(
  scenario: Scenario,
  target: Target,
  warmUpMs: number,
  windowMs: number,
): Promise<Round> {
  let cpu: number | undefined;
  let databaseCpu: number | undefined;
  const measured = await runLoad({
    destination: target.destination,
    kind: scenario.kind,
    body: requestBody(scenario.kind),
    chunks: STREAM_CHUNKS,
    connections: scenario.connections,
    warmUpMs,
    windowMs,
    tally: target.tally,
    onWindow: (edge) => {
      const nowCpu = nodeMicroseconds(target);
      const nowDatabaseCpu = databaseMicroseconds(target);
      cpu = edge === 'open' ? nowCpu : difference(nowCpu, cpu);
      databaseCpu = edge === 'open' ? nowDatabaseCpu : difference(nowDatabaseCpu, databaseCpu);
    },
  });
  return { measured, cpu, databaseCpu };
}

function difference(after: number | undefined, before: number | undefined): number | undefined {
  return after === undefined || before === undefined ? undefined : after - before;
}

/** CPU time of all Node.js processes of a target so far; undefined if unknown. */
export function nodeMicroseconds(target: Target): number | undefined {
  const pids = target.nodePids?.() ?? [target.pid];
  const each = pids.map(cpuMicroseconds);
  return each.reduce<number | undefined>(
    (sum, one) => (sum === undefined || one === undefined ? undefined : sum + one),
    0,
  );
}

function databaseMicroseconds(target: Target): number | undefined {
  const pids = target.databasePids();
  if (pids.length === 0) return undefined;
  return pids.reduce((sum, pid) => sum + (cpuMicroseconds(pid) ?? 0), 0);
}

function merge(scenario: Scenario, target: Target, rounds: readonly Round[]): Row {
  const sum = (value: (round: Round) => number) => rounds.reduce((total, round) => total + value(round), 0);
  const latencies = Float64Array.from(rounds.flatMap(({ measured }) => measured.latenciesMs)).sort();
  const firstBytes = Float64Array.from(rounds.flatMap(({ measured }) => measured.firstBytesMs)).sort();
  const seconds = sum(({ measured }) => measured.seconds);
  const requests = sum(({ measured }) => measured.requests);
  const perRequest = (value: (round: Round) => number | undefined) =>
    requests === 0 || rounds.some((round) => value(round) === undefined)
      ? null
      : sum((round) => value(round) ?? 0) / requests;
  return {
    scenario: scenarioName(scenario),
    target: target.name,
    requests,
    requestsPerSecond: requests / seconds,
    chunksPerSecond: sum(({ measured }) => measured.chunks) / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    firstByteP50Ms: firstBytes.length === 0 ? null : quantile(firstBytes, 0.5),
    cpuMicrosecondsPerRequest: perRequest(({ cpu }) => cpu),
    databaseCpuMicrosecondsPerRequest: perRequest(({ databaseCpu }) => databaseCpu),
    residentMiB: mebibytes(residentBytes(target.pid)),
  };
}

/** The nearest-rank quantile of sorted values; NaN if there are none. */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function mebibytes(bytes: number | undefined): number | null {
  return bytes === undefined ? null : bytes / MEBIBYTE;
}

/** Runs many concurrent slow streams and samples the target's memory until the last one is complete. */
export async function measureSlowStreams(target: Target, options: Options): Promise<SlowStreamsRow> {
  // The total rate of chunks does not depend on the number of streams.
  const everyTicks = Math.ceil(options.slowStreams / MAX_CHUNKS_PER_TICK);
  const chunks = Math.ceil(options.slowChunks / everyTicks);
  const load = {
    destination: target.destination,
    body: requestBody('stream', slowPrompt({ chunks, everyTicks })),
    chunks,
    tally: target.tally,
  };
  const quick = { ...load, body: requestBody('stream', slowPrompt({ chunks: 1, everyTicks: 1 })), chunks: 1 };
  await runOnce(quick, SLOW_WARM_UP_STREAMS);
  const before = residentBytes(target.pid);
  let peak = before;
  const sampler = setInterval(() => {
    const now = residentBytes(target.pid);
    if (now !== undefined && (peak === undefined || now > peak)) peak = now;
  }, SAMPLE_EVERY_MS);
  try {
    const tookMs = await runOnce(load, options.slowStreams);
    return {
      target: target.name,
      streams: options.slowStreams,
      seconds: tookMs / 1000,
      initialResidentMiB: mebibytes(before),
      peakResidentMiB: mebibytes(peak),
    };
  } finally {
    clearInterval(sampler);
  }
}
