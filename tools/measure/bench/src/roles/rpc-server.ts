import {
  type RateLimitDefinition as RateLimitType,
  RateLimitDefinition,
} from '@gateway/contracts/rate-limit';
import { bindService, type BoundService, type RpcHandlers } from '@gateway/rpc';
import { createGrpcServer } from '@gateway/rpc/grpc';
import { HealthCheckResponse_ServingStatus as ServingStatus, HealthDefinition } from '@gateway/contracts/health';
import { type RunningRole } from './listen';

export const STREAM_MESSAGES = 100;

const window = { limit: 600, remaining: 599, resetMs: 30_000 };
const admitted = {
  outcome: { $case: 'admitted' as const, value: { slotLeaseMs: 30_000 } },
  requests: window,
  tokens: window,
};

const limiter: RpcHandlers<typeof RateLimitType> = {
  admit: async ({ admissions }) => ({ results: admissions.map(() => admitted) }),
  finish: async () => ({}),
  renewSlots: async () => ({}),
};

/** gRPC's own health service under another name: the smallest messages there are. */
export const StreamDefinition = {
  ...HealthDefinition,
  name: 'Stream',
  fullName: 'gateway.bench.v1.Stream',
} as const;

/** A limiter that admits all at once, and a stream: what is left is the cost of the calls. */
export const rpcServices = (): BoundService[] => [
  bindService(RateLimitDefinition, limiter),
  bindService(StreamDefinition, {
    check: async () => ({ status: ServingStatus.SERVING }),
    async *watch() {
      for (let sent = 0; sent < STREAM_MESSAGES; sent += 1) yield { status: ServingStatus.SERVING };
    },
  }),
];

export async function startRpcServer(): Promise<RunningRole> {
  const server = createGrpcServer({ services: rpcServices(), host: '127.0.0.1', port: 0 });
  const { port } = await server.start();
  return { port, close: () => server.stop() };
}
