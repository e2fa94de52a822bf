import type { ActorVerifier } from '@gateway/actors';
import { HealthDefinition } from '@gateway/contracts/health';
import { toGatewayError } from '@gateway/errors';
import { admitActor, denial, type DeniedCall } from '../access';
import { cancelledCall, overdueCall, RpcError } from '../rpc-error';
import { reportFailure, type RpcLog, type ServedMethod } from '../served-methods';
import type { RpcCallEnd, ServerCall } from '../server-call';
import { traceOfCall } from '../traced-call';
import { asBuffer, deniedFailure, stoppingFailure, toGrpcFailure, type GrpcFailure } from './grpc-wire';

export interface CallRunnerPorts {
  /** Whether certificates identify the callers. */
  readonly identified: boolean;
  readonly refusedCallers: ReadonlySet<string>;
  readonly log?: RpcLog;
  readonly actors?: ActorVerifier;
  readonly onDenied?: (denied: DeniedCall) => void;
  readonly onCallEnd?: (end: RpcCallEnd) => void;
}

export interface CallInFlight {
  readonly context: ServerCall;
  readonly served: ServedMethod;
  readonly caller: string | undefined;
  readonly startedAtMs: number;
  /** Aborts the handler and fails the call. */
  abort(): void;
  /** Aborts the handler, because the caller no longer waits. Does nothing after the end of the call. */
  cancel(): void;
}

type UnaryReply = { readonly response: Buffer } | { readonly failure: GrpcFailure };

/** Runs the calls of a server, whether each has a gRPC call of its own or is part of a batch. */
export interface CallRunner {
  /** The refusal of a call whose caller the method's contract does not name. */
  denialOf(served: ServedMethod, caller: string | undefined): GrpcFailure | undefined;
  /** @param fail sends the failure of a call that the stopping server aborts */
  open(
    served: ServedMethod,
    context: ServerCall,
    caller: string | undefined,
    fail: (failure: GrpcFailure) => void,
  ): CallInFlight;
  /** Runs the handler of a unary call; undefined if the call was aborted. */
  respond(open: CallInFlight, request: Uint8Array): Promise<UnaryReply | undefined>;
  /**
   * Runs a streaming handler; returns its failure. Undefined if it succeeded or the call was aborted.
   *
   * @param write returns a promise while there is no room for another message
   */
  stream(
    open: CallInFlight,
    request: Uint8Array,
    write: (message: Buffer) => Promise<void> | undefined,
  ): Promise<GrpcFailure | undefined>;
  abortAll(): void;
}

export function createCallRunner({
  identified,
  refusedCallers,
  log,
  actors,
  onDenied,
  onCallEnd,
}: CallRunnerPorts): CallRunner {
  const inFlight = new Set<CallInFlight>();

  function denialOf(served: ServedMethod, caller: string | undefined): GrpcFailure | undefined {
    if (!identified || served.service === HealthDefinition.fullName) return undefined;
    const isRefused = caller !== undefined && refusedCallers.has(caller);
    const denied = denial(served, isRefused ? undefined : caller);
    if (denied === undefined) return undefined;
    const rpc = `${served.service}/${served.method}`;
    onCallEnd?.({ rpc, outcome: denied.failure, durationMs: 0, trace: undefined });
    onDenied?.({ rpc, caller, reason: denied.internalMessage ?? '' });
    return deniedFailure(denied);
  }

  /** The refusal of a call whose actor is not admitted. Sets the actor of an admitted call. */
  async function actorDenialOf(
    { served, context, caller }: CallInFlight,
    request: unknown,
  ): Promise<RpcError | undefined> {
    try {
      context.actor = await admitActor(served, { request, metadata: context.metadata }, actors);
      return undefined;
    } catch (denied) {
      if (!(denied instanceof RpcError)) throw denied;
      const rpc = `${served.service}/${served.method}`;
      if (denied.failure !== 'unimplemented') {
        onDenied?.({ rpc, caller, reason: denied.internalMessage ?? '' });
      }
      return denied;
    }
  }

  function open(
    served: ServedMethod,
    context: ServerCall,
    caller: string | undefined,
    fail: (failure: GrpcFailure) => void,
  ): CallInFlight {
    const call: CallInFlight = {
      context,
      served,
      caller,
      startedAtMs: performance.now(),
      abort: () => {
        markEnded(call, 'cancelled');
        context.abort(new RpcError('cancelled', 'the server stopped before the call had ended'));
        fail(stoppingFailure());
      },
      cancel: () => {
        if (!markEnded(call, 'cancelled')) return;
        const isOverdue = Date.now() >= (context.deadlineUnixMs ?? Infinity);
        context.abort(isOverdue ? overdueCall(served) : cancelledCall(served));
      },
    };
    inFlight.add(call);
    return call;
  }

  /** @returns whether the call was still in flight. */
  function markEnded(open: CallInFlight, outcome: string): boolean {
    if (!inFlight.delete(open)) return false;
    const { served, context, startedAtMs } = open;
    onCallEnd?.({
      rpc: `${served.service}/${served.method}`,
      outcome,
      durationMs: performance.now() - startedAtMs,
      trace: traceOfCall(context.metadata),
    });
    return true;
  }

  async function respond(open: CallInFlight, request: Uint8Array): Promise<UnaryReply | undefined> {
    const { served, context } = open;
    try {
      const message = served.decode(request);
      if (served.permission !== undefined) {
        const refusal = await actorDenialOf(open, message);
        if (context.aborted) return undefined;
        if (refusal !== undefined) {
          markEnded(open, refusal.failure);
          return { failure: deniedFailure(refusal) };
        }
      }
      const response = await served.invoke(message, context);
      if (context.aborted) return undefined;
      const bytes = asBuffer(served.encode(response));
      markEnded(open, 'ok');
      return { response: bytes };
    } catch (thrown) {
      if (context.aborted) return undefined;
      reportFailure(log, served, thrown);
      markEnded(open, toGatewayError(thrown).code);
      return { failure: toGrpcFailure(thrown) };
    }
  }

  async function stream(
    open: CallInFlight,
    request: Uint8Array,
    write: (message: Buffer) => Promise<void> | undefined,
  ): Promise<GrpcFailure | undefined> {
    const { served, context } = open;
    try {
      await sendMessages(served, { request, context, write });
      markEnded(open, context.aborted ? 'cancelled' : 'ok');
      return undefined;
    } catch (thrown) {
      if (!context.aborted) reportFailure(log, served, thrown);
      markEnded(open, context.aborted ? 'cancelled' : toGatewayError(thrown).code);
      return context.aborted ? undefined : toGrpcFailure(thrown);
    }
  }

  return {
    denialOf,
    open,
    respond,
    stream,
    abortAll() {
      for (const call of inFlight) call.abort();
    },
  };
}

/**
 * Runs a streaming handler and sends its messages, with backpressure. Resolves
 * when the handler has finished or the call is aborted. An aborted handler runs
 * its `finally`, and nothing more is sent.
 */
async function sendMessages(
  served: ServedMethod,
  {
    request,
    context,
    write,
  }: {
    readonly request: Uint8Array;
    readonly context: ServerCall;
    /** Returns a promise while there is no room for another message. */
    readonly write: (message: Buffer) => Promise<void> | undefined;
  },
): Promise<void> {
  const messages = served.invoke(served.decode(request), context) as AsyncIterable<unknown>;
  const iterator = messages[Symbol.asyncIterator]();
  const closeIterator = (): void => void iterator.return?.().catch(() => undefined);
  // Immediately, as the handler may not produce its next message for a long time.
  context.signal.addEventListener('abort', closeIterator);
  while (!context.aborted) {
    const result = await iterator.next();
    if (context.aborted || result.done) return;
    let hasNoRoom: Promise<void> | undefined;
    try {
      hasNoRoom = write(asBuffer(served.encode(result.value)));
    } catch (error) {
      closeIterator();
      throw error;
    }
    if (hasNoRoom !== undefined) await hasNoRoom;
  }
}
