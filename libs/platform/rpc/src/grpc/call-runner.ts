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

/** Where a streaming call sends its messages and its end. */
export interface StreamReplies {
  /** @returns a promise while there is no room for another message. */
  readonly send: (message: Buffer) => Promise<void> | undefined;
  readonly succeed: () => void;
  readonly fail: (failure: GrpcFailure) => void;
}

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
  /** Runs a streaming handler and sends its messages and its end, unless the call is aborted before. */
  stream(open: CallInFlight, request: Uint8Array, replies: StreamReplies): void;
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

  function stream(open: CallInFlight, request: Uint8Array, replies: StreamReplies): void {
    const { served, context } = open;
    const fail = (thrown: unknown): void => {
      reportFailure(log, served, thrown);
      markEnded(open, toGatewayError(thrown).code);
      replies.fail(toGrpcFailure(thrown));
    };
    const readMore = (): void => messages.read();
    const message = (response: unknown): void => {
      let hasNoRoom: Promise<void> | undefined;
      try {
        hasNoRoom = replies.send(asBuffer(served.encode(response)));
      } catch (error) {
        messages.close();
        return fail(error);
      }
      if (hasNoRoom === undefined) messages.read();
      else void hasNoRoom.then(readMore);
    };
    const end = (): void => {
      markEnded(open, 'ok');
      replies.succeed();
    };
    let decoded: unknown;
    try {
      decoded = served.decode(request);
    } catch (error) {
      return fail(error);
    }
    const messages = served.stream(decoded, context, { message, end, fail });
    // Immediately, as the handler may not produce its next message for a long time.
    context.signal.addEventListener('abort', () => messages.close());
    messages.read();
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
