import { setTimeout as delay } from 'node:timers/promises';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { createClient, createInProcessTransport, type RpcTransport } from '@gateway/rpc';
import { createReplicatedTransport } from '@gateway/rpc/grpc';
import { cpuMicroseconds } from '../machine';
import { type Processes } from '../processes';
import { rpcServices, STREAM_MESSAGES, StreamDefinition } from '../roles/rpc-server';

export interface RpcRow {
  readonly call: string;
  readonly way: 'in process' | 'gRPC';
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  /** Of both ends together. */
  readonly cpuMicroseconds: number;
}

interface Call {
  readonly name: string;
  readonly connections: number;
  readonly run: (transport: RpcTransport) => () => Promise<void>;
}

const WARM_UP_MS = 4_000;
const WINDOW_MS = 4_000;
const TIMEOUT_MS = 30_000;

const limits = {
  requestsPerMinute: 600,
  tokensPerMinute: 200_000,
  dailyBudgetNanoUsd: undefined,
  concurrency: 20,
};

const CALLS: readonly Call[] = [
  { name: 'an admission', connections: 1, run: admissions(1) },
  { name: 'an admission, 32 calls at once', connections: 32, run: admissions(1) },
  { name: '32 admissions in one call', connections: 1, run: admissions(32) },
  { name: `a stream of ${STREAM_MESSAGES} messages`, connections: 32, run: streams },
];

/** What a call costs within a process, and between two over gRPC on this machine's loopback. */
export async function measureRpc(processes: Processes): Promise<RpcRow[]> {
  const server = await processes.startRole('others', 'rpc');
  const transport = createReplicatedTransport({ target: `127.0.0.1:${server.port}` });
  const inside = createInProcessTransport(rpcServices(), { freezesMessages: false });
  try {
    const rows: RpcRow[] = [];
    for (const call of CALLS) {
      rows.push(await measure(call, 'in process', inside, []));
      rows.push(await measure(call, 'gRPC', transport, [server.pid]));
    }
    return rows;
  } finally {
    transport.close();
  }
}

async function measure(
  { name, connections, run }: Call,
  way: RpcRow['way'],
  transport: RpcTransport,
  others: readonly number[],
): Promise<RpcRow> {
  const call = run(transport);
  const latencies: number[] = [];
  let running = true;
  const callers = Array.from({ length: connections }, async () => {
    while (running) {
      const startedMs = performance.now();
      await call();
      latencies.push(performance.now() - startedMs);
      // Within a process calls are answered in the same turn: timers must have theirs.
      if (way === 'in process') await new Promise(setImmediate);
    }
  });
  const cpu = (): number =>
    [process.pid, ...others].reduce((sum, pid) => sum + (cpuMicroseconds(pid) ?? Number.NaN), 0);
  await delay(WARM_UP_MS);
  latencies.length = 0;
  const [cpuBefore, startedMs] = [cpu(), performance.now()];
  await delay(WINDOW_MS);
  const [cpuAfter, seconds] = [cpu(), (performance.now() - startedMs) / 1_000];
  const calls = latencies.length;
  const p50Ms = latencies.toSorted((a, b) => a - b)[Math.floor(calls / 2)] ?? Number.NaN;
  running = false;
  await Promise.all(callers);
  return {
    call: name,
    way,
    callsPerSecond: calls / seconds,
    p50Ms,
    cpuMicroseconds: (cpuAfter - cpuBefore) / calls,
  };
}

function admissions(count: number): Call['run'] {
  const request = {
    admissions: Array.from({ length: count }, (_, index) => ({
      admissionId: `gen-01M816TSPVFPVMM1YW56H62TA${index}`,
      organizationId: 'org-01M816TP1Q7AZ7AVVQWTMRPXQV',
      keyId: 'key-01M816TS6J0H5K0HP9SRWPYZQN',
      tokens: 1_234,
      organizationLimits: limits,
      keyLimits: limits,
    })),
  };
  return (transport) => {
    const limiter = createClient(RateLimitDefinition, transport, { unaryTimeoutMs: TIMEOUT_MS });
    return async () => {
      const { results } = await limiter.admit(request);
      if (results.length !== count) throw new Error(`${results.length} of ${count} admissions were decided`);
    };
  };
}

function streams(transport: RpcTransport): () => Promise<void> {
  const client = createClient(StreamDefinition, transport);
  return async () => {
    let messages = 0;
    for await (const _ of client.watch({ service: '' })) messages += 1;
    if (messages !== STREAM_MESSAGES) throw new Error(`a stream had ${messages} messages`);
  };
}

export function renderRpc(rows: readonly RpcRow[]): string {
  return [
    '| call | way | calls/s | p50 ms | CPU µs, both ends |',
    '| --- | --- | ---: | ---: | ---: |',
    ...rows.map(
      ({ call, way, callsPerSecond, p50Ms, cpuMicroseconds: cpu }) =>
        `| ${call} | ${way} | ${callsPerSecond.toFixed(0)} | ${p50Ms.toFixed(2)} | ${cpu.toFixed(0)} |`,
    ),
    '',
  ].join('\n');
}
