import { HealthDefinition } from '@gateway/contracts/health';
import { Client } from '@grpc/grpc-js';
import { createClient } from '../../client';
import {
  failureBeforeStart,
  isRpcDeadlineExceeded,
  isRpcUnavailable,
  isRpcUnimplemented,
  isRpcUnreachable,
  RpcError,
} from '../../rpc-error';
import {
  MAX_MESSAGE_BYTES,
  type StartedStream,
  type StreamReader,
  type TransportCall,
} from '../../transport';
import { channelCredentials, clientOptions, type RpcTls } from '../grpc-options';
import { transportOver, type GrpcTransport } from '../grpc-transport';
import { LIVENESS } from '../health';
import { checkTarget, resolveTarget, type ServerAddress } from './addresses';
import { Replica, type ReplicaLimits } from './replica';
import { ReplicaSet } from './replica-set';

export interface ReplicatedTransportOptions {
  /** `host:port`, or several separated by commas. A name means all its addresses, and is resolved periodically. */
  readonly target: string;
  /** Absent: plain text. Called for each new connection, so that certificates can be renewed. */
  readonly tls?: () => RpcTls;
  /** Defaults to MAX_MESSAGE_BYTES. */
  readonly maxMessageBytes?: number;
  /** Called when name resolution fails, once until it succeeds again. */
  readonly onUnresolved?: (error: unknown) => void;
  /** For tests; see `defaultReplicaLimits`. */
  readonly limits?: Partial<ReplicatedTransportLimits>;
  /** Resolves the servers of the target; DNS by default. */
  readonly resolve?: (target: string) => Promise<readonly ServerAddress[]>;
}

export interface ReplicatedTransportLimits extends ReplicaLimits {
  readonly resolveIntervalMs: number;
  readonly checkIntervalMs: number;
  /** How long a call waits for a connected replica, within its own deadline. */
  readonly connectWaitMs: number;
  /** The share of an idempotent call's time after which it is retried on another replica. */
  readonly firstAttemptShare: number;
}

/** With these, idempotent calls leave an unresponsive replica within 1.5 seconds. */
export const defaultReplicaLimits: ReplicatedTransportLimits = {
  resolveIntervalMs: 5_000,
  checkIntervalMs: 250,
  probeAfterMs: 500,
  probeTimeoutMs: 750,
  connectWaitMs: 2_000,
  firstAttemptShare: 0.5,
};

/**
 * Calls the replicas of a service. Each call goes to the connected replica with
 * the fewest calls. An unresponsive replica gets no calls until it responds.
 *
 * An idempotent call is retried once, on another replica, if its replica fails,
 * becomes unresponsive, or exceeds its share of the call's time. Other calls and
 * streams are not retried, since they may have had an effect. A call that was never
 * sent, or of a method that its replica lacks, had no effect, so it is always retried.
 */
export function createReplicatedTransport({
  target,
  tls,
  maxMessageBytes = MAX_MESSAGE_BYTES,
  onUnresolved,
  limits: chosen = {},
  resolve = resolveTarget,
}: ReplicatedTransportOptions): GrpcTransport {
  checkTarget(target);
  const limits = { ...defaultReplicaLimits, ...chosen };

  function connect({ address, host }: ServerAddress, onChange: () => void): Replica {
    const credentials = tls?.();
    const hostTls = credentials && { serverName: host, ...credentials };
    const client = new Client(address, channelCredentials(hostTls), clientOptions(maxMessageBytes, hostTls));
    const transport = transportOver(client, maxMessageBytes, () => replica.markStopping());
    const health = createClient(HealthDefinition, transport);
    const probe = async (timeoutMs: number): Promise<void> => {
      await health.check({ service: LIVENESS }, { timeoutMs });
    };
    const replica = new Replica({ address, client, transport, probe, limits, onChange });
    return replica;
  }

  const replicas = new ReplicaSet(
    { resolve: () => resolve(target), connect, ...(onUnresolved && { onUnresolved }) },
    limits,
  );

  async function unary(call: TransportCall<Uint8Array>): Promise<Uint8Array> {
    const startedMs = performance.now();
    const leftMs = (): number | undefined =>
      call.timeoutMs === undefined ? undefined : call.timeoutMs - (performance.now() - startedMs);
    const waitMs = (): number => Math.min(limits.connectWaitMs, leftMs() ?? limits.connectWaitMs);
    const ended = failureBeforeStart(call, call.timeoutMs);
    if (ended !== undefined) throw ended;
    const first = replicas.pick() ?? (await replicas.pickOrWait(waitMs(), call.signal));
    const canRetry = call.idempotent === true;
    // Without a possible retry, the first attempt gets all the time.
    const share = canRetry && replicas.size > 1 ? limits.firstAttemptShare : 1;
    const firstMs = leftMs();
    try {
      return await (canRetry ? attemptWhileResponsive : attempt)(first, {
        ...call,
        timeoutMs: firstMs === undefined ? undefined : firstMs * share,
      });
    } catch (error) {
      const hadNoEffect = isRpcUnimplemented(error) || isRpcUnreachable(error);
      const isRetryable = canRetry && (isRpcUnavailable(error) || isRpcDeadlineExceeded(error));
      if (!hadNoEffect && !isRetryable) throw error;
      const except = hadNoEffect ? first : undefined;
      const hasOther = except === undefined || replicas.size > 1;
      const next = () => replicas.pickOrWait(waitMs(), call.signal, except).catch(() => undefined);
      const other = replicas.pick(first) ?? (hasOther ? await next() : undefined);
      const timeoutMs = leftMs();
      if (other === undefined || (timeoutMs !== undefined && timeoutMs <= 0)) throw error;
      return attempt(other, { ...call, timeoutMs });
    }
  }

  /** A replica that was never sent the call had no effect, so another one gets it. */
  function startStreamOfAny(
    first: Replica,
    call: TransportCall<Uint8Array>,
    reader: StreamReader<Uint8Array>,
  ): StartedStream {
    let started = startStream(first, call, {
      message: (bytes, cost) => reader.message(bytes, cost),
      end: (error) => {
        const other = isRpcUnreachable(error) ? replicas.pick(first) : undefined;
        if (other === undefined) return reader.end(error);
        try {
          started = startStream(other, call, reader);
        } catch (cause) {
          reader.end(cause as Error);
        }
      },
    });
    return { read: (taken) => started.read(taken), cancel: () => started.cancel() };
  }

  return {
    carries: 'bytes',
    unary,
    serverStream: (call, reader) => {
      const ended = failureBeforeStart(call, call.timeoutMs);
      if (ended !== undefined) throw ended;
      const picked = replicas.pick();
      if (picked !== undefined) return startStreamOfAny(picked, call, reader);
      const waitMs = Math.min(limits.connectWaitMs, call.timeoutMs ?? limits.connectWaitMs);
      return startStreamLater(replicas.pickOrWait(waitMs, call.signal), call, reader);
    },
    everyServer: () =>
      replicas.callable().map((replica) => ({
        carries: 'bytes',
        unary: (call) => attempt(replica, call),
        serverStream: (call, reader) => startStream(replica, call, reader),
      })),
    close: () => replicas.close(),
  };
}

async function attempt(replica: Replica, call: TransportCall<Uint8Array>): Promise<Uint8Array> {
  const open = replica.open();
  try {
    const response = await replica.transport.unary(call);
    open.responded();
    return response;
  } catch (error) {
    if (!isTransportFailure(error)) open.responded();
    throw error;
  } finally {
    open.done();
  }
}

/** As `attempt`, but fails as unavailable when the replica becomes unresponsive. */
function attemptWhileResponsive(replica: Replica, call: TransportCall<Uint8Array>): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const stopListening = replica.onUnresponsive(() => {
      stopListening();
      reject(new RpcError('unavailable', `${replica.address} is unresponsive`));
    });
    attempt(replica, call).then(resolve, reject).finally(stopListening);
  });
}

/** Whether the failure is not a response of the replica. */
function isTransportFailure(error: unknown): boolean {
  return error instanceof RpcError;
}

/** Starts a stream of one replica. */
function startStream(
  replica: Replica,
  call: TransportCall<Uint8Array>,
  reader: StreamReader<Uint8Array>,
): StartedStream {
  const open = replica.open();
  try {
    const started = replica.transport.serverStream(call, {
      message: (bytes, cost) => {
        open.responded();
        reader.message(bytes, cost);
      },
      end: (error) => {
        if (!isTransportFailure(error)) open.responded();
        open.done();
        reader.end(error);
      },
    });
    return {
      read: (taken) => started.read(taken),
      cancel: () => {
        open.done();
        started.cancel();
      },
    };
  } catch (error) {
    open.done();
    throw error;
  }
}

/** Starts a stream once a replica is connected. */
function startStreamLater(
  picking: Promise<Replica>,
  call: TransportCall<Uint8Array>,
  reader: StreamReader<Uint8Array>,
): StartedStream {
  const startedMs = performance.now();
  let started: StartedStream | undefined;
  let isCancelled = false;
  picking
    .then((replica) => {
      if (isCancelled) return;
      const { timeoutMs } = call;
      const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - startedMs);
      started = startStream(replica, { ...call, timeoutMs: leftMs }, reader);
    })
    .catch((error: unknown) => reader.end(error as Error));
  return {
    read: (taken) => started?.read(taken),
    cancel: () => {
      isCancelled = true;
      started?.cancel();
    },
  };
}
