import { HealthDefinition } from '@gateway/contracts/health';
import { Client } from '@grpc/grpc-js';
import { createClient } from '../../client';
import {
  endedBeforeStart,
  isRpcDeadlineExceeded,
  isRpcUnavailable,
  isRpcUnimplemented,
  RpcError,
} from '../../rpc-error';
import { MAX_MESSAGE_BYTES, type TransportCall } from '../../transport';
import { channelCredentials, clientOptions, type RpcTls } from '../grpc-options';
import { transportOver, type GrpcTransport } from '../grpc-transport';
import { LIVENESS } from '../health';
import { checkTarget, resolveTarget, type ServerAddress } from './addresses';
import { Replica, type ReplicaLimits } from './replica';
import { ReplicaSet } from './replica-set';

export interface ReplicatedTransportOptions {
  /** `host:port`, or several with commas between. A name stands for all its addresses, looked up again and again. */
  readonly target: string;
  /** Plain text when absent. Asked for each new connection, so that certificates may be renewed. */
  readonly tls?: () => RpcTls;
  /** MAX_MESSAGE_BYTES when absent. */
  readonly maxMessageBytes?: number;
  /** Told when the target's servers cannot be found, once until they can. */
  readonly onUnresolved?: (error: unknown) => void;
  /** What tests set; see `defaultReplicaLimits`. */
  readonly limits?: Partial<ReplicatedTransportLimits>;
  /** How the servers of the target are found; DNS when absent. */
  readonly resolve?: (target: string) => Promise<readonly ServerAddress[]>;
}

export interface ReplicatedTransportLimits extends ReplicaLimits {
  readonly resolveEveryMs: number;
  readonly tickMs: number;
  /** How long a call waits for a replica to be connected, of its own time. */
  readonly connectWaitMs: number;
  /** The part of an idempotent call's time after which it is sent to another replica as well. */
  readonly firstAttemptPart: number;
}

/** Together: a replica that fell silent has lost its calls to others after 1.5 seconds at most. */
export const defaultReplicaLimits: ReplicatedTransportLimits = {
  resolveEveryMs: 5_000,
  tickMs: 250,
  silenceMs: 500,
  probeTimeoutMs: 750,
  connectWaitMs: 2_000,
  firstAttemptPart: 0.5,
};

/**
 * Calls the replicas of a service. Each call goes to the connected replica with
 * the fewest calls. A replica that no longer answers, though its connection
 * stands, gets none until it does; idempotent calls that it has are sent to
 * another, once. So is an idempotent call whose replica fails, or takes more
 * than its part of the call's time. Calls that are not idempotent, and streams,
 * stay where they are: they may have had an effect. A call whose method its
 * replica does not have yet had none, so another is asked, whatever the call.
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
    const identity = tls?.();
    const named = identity && { serverName: host, ...identity };
    const client = new Client(address, channelCredentials(named), clientOptions(maxMessageBytes, named));
    const transport = transportOver(client);
    const health = createClient(HealthDefinition, transport);
    const probe = async (timeoutMs: number): Promise<void> => {
      await health.check({ service: LIVENESS }, { timeoutMs });
    };
    return new Replica({ address, client, transport, probe, limits, onChange });
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
    const ended = endedBeforeStart(call, call.timeoutMs);
    if (ended !== undefined) throw ended;
    const first = replicas.pick() ?? (await replicas.pickInTime(waitMs(), call.signal));
    const mayRepeat = call.idempotent === true;
    // Alone, or without another try, a replica has all the time there is.
    const part = mayRepeat && replicas.size > 1 ? limits.firstAttemptPart : 1;
    const firstMs = leftMs();
    try {
      return await (mayRepeat ? attemptUntilSilent : attempt)(first, {
        ...call,
        timeoutMs: firstMs === undefined ? undefined : firstMs * part,
      });
    } catch (error) {
      const isWithoutEffect = isRpcUnimplemented(error);
      const isWorthRepeating = mayRepeat && (isRpcUnavailable(error) || isRpcDeadlineExceeded(error));
      if (!isWithoutEffect && !isWorthRepeating) throw error;
      const except = isWithoutEffect ? first : undefined;
      const hasOther = except === undefined || replicas.size > 1;
      const next = () => replicas.pickInTime(waitMs(), call.signal, except).catch(() => undefined);
      const other = replicas.pick(first) ?? (hasOther ? await next() : undefined);
      const timeoutMs = leftMs();
      if (other === undefined || (timeoutMs !== undefined && timeoutMs <= 0)) throw error;
      return attempt(other, { ...call, timeoutMs });
    }
  }

  return {
    carries: 'bytes',
    unary,
    serverStream: (call) => new ReplicaStream(call, replicas, limits.connectWaitMs),
    close: () => replicas.close(),
  };
}

async function attempt(replica: Replica, call: TransportCall<Uint8Array>): Promise<Uint8Array> {
  const open = replica.open();
  try {
    const answer = await replica.transport.unary(call);
    open.heard();
    return answer;
  } catch (error) {
    if (!isOfTransport(error)) open.heard();
    throw error;
  } finally {
    open.done();
  }
}

/** As `attempt`, and gives up as unavailable when the replica falls silent. */
function attemptUntilSilent(replica: Replica, call: TransportCall<Uint8Array>): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const stopListening = replica.whenSilent(() => {
      stopListening();
      reject(new RpcError('unavailable', `${replica.address} does not answer any more`));
    });
    attempt(replica, call).then(resolve, reject).finally(stopListening);
  });
}

/** A failure that says nothing of the replica itself. */
function isOfTransport(error: unknown): boolean {
  return error instanceof RpcError;
}

type Result = IteratorResult<Uint8Array, undefined>;

/** A stream of one replica, which is chosen at the first read. */
class ReplicaStream implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly startedMs = performance.now();
  private inner: Promise<AsyncIterator<Uint8Array>> | undefined;
  private open: ReturnType<Replica['open']> | undefined;
  private left = false;

  constructor(
    private readonly call: TransportCall<Uint8Array>,
    private readonly replicas: ReplicaSet,
    private readonly connectWaitMs: number,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    if (this.left) return { done: true, value: undefined };
    this.inner ??= this.start();
    try {
      const result = await (await this.inner).next();
      this.open?.heard();
      if (result.done) this.open?.done();
      return result as Result;
    } catch (error) {
      this.open?.done();
      throw error;
    }
  }

  async return(): Promise<Result> {
    this.left = true;
    const inner = await this.inner?.catch(() => undefined);
    await inner?.return?.();
    this.open?.done();
    return { done: true, value: undefined };
  }

  private async start(): Promise<AsyncIterator<Uint8Array>> {
    const { call } = this;
    const ended = endedBeforeStart(call, call.timeoutMs);
    if (ended !== undefined) throw ended;
    const waitMs = Math.min(this.connectWaitMs, call.timeoutMs ?? this.connectWaitMs);
    const replica = this.replicas.pick() ?? (await this.replicas.pickInTime(waitMs, call.signal));
    this.open = replica.open();
    const timeoutMs =
      call.timeoutMs === undefined ? undefined : call.timeoutMs - (performance.now() - this.startedMs);
    return replica.transport.serverStream({ ...call, timeoutMs })[Symbol.asyncIterator]();
  }
}
