import type { ActorVerifier } from '@gateway/actors';
import type { CallFailure } from '@gateway/contracts/batched-calls';
import { HealthDefinition } from '@gateway/contracts/health';
import { toGatewayError } from '@gateway/errors';
import { admitActor, denial, type DeniedCall } from '../access';
import type { HandlerStream } from '../handler-stream';
import { cancelledCall, overdueCall, RpcError } from '../rpc-error';
import { reportFailure, type RpcLog, type ServedMethod } from '../served-methods';
import type { RpcCallEnd, ServerCall } from '../server-call';
import { traceOfCall } from '../traced-call';
import { asBuffer, deniedFailure, stoppingFailure, toCallFailure } from './grpc-wire';

export interface CallRunnerOptions {
  /** Whether certificates identify the callers. */
  readonly identified: boolean;
  readonly refusedCallers: ReadonlySet<string>;
  readonly log?: RpcLog | undefined;
  readonly actors?: ActorVerifier | undefined;
  readonly onDenied?: ((denied: DeniedCall) => void) | undefined;
  readonly onCallEnd?: ((end: RpcCallEnd) => void) | undefined;
}

/** A call that its caller may make. */
export interface AcceptedCall {
  /** Runs the handler. */
  run(request: Uint8Array): void;
  /** Aborts the handler, because the caller no longer waits. Does nothing after the end of the call. */
  cancel(): void;
}

/** Where a call sends its messages and its end. */
export interface CallReplies {
  /** @returns a promise while there is no room for another message. */
  send(message: Buffer): Promise<void> | undefined;
  succeed(): void;
  fail(failure: CallFailure): void;
}

export interface IncomingCall {
  readonly served: ServedMethod;
  readonly context: ServerCall;
  /** The service that calls; undefined when its certificate names none. */
  readonly caller: string | undefined;
}

/** Checks, runs and counts the calls of a server. */
export class CallRunner {
  private readonly inFlight = new Set<RunningCall>();

  constructor(private readonly options: CallRunnerOptions) {}

  /** Accepts a call, or refuses it if its contract does not name the caller. */
  accept(incoming: IncomingCall, replies: CallReplies): AcceptedCall | undefined {
    const denied = this.denialOf(incoming);
    if (denied === undefined) return new RunningCall(incoming, replies, this.options, this.inFlight);
    replies.fail(denied);
    return undefined;
  }

  /** Aborts the handlers of all calls, and fails the calls. */
  abortAll(): void {
    for (const call of this.inFlight) call.abort();
  }

  private denialOf({ served, caller }: IncomingCall): CallFailure | undefined {
    const { identified, refusedCallers, onCallEnd, onDenied } = this.options;
    if (!identified || served.service === HealthDefinition.fullName) return undefined;
    const isRefused = caller !== undefined && refusedCallers.has(caller);
    const denied = denial(served, isRefused ? undefined : caller);
    if (denied === undefined) return undefined;
    const rpc = `${served.service}/${served.method}`;
    onCallEnd?.({ rpc, outcome: denied.failure, durationMs: 0, trace: undefined });
    onDenied?.({ rpc, caller, reason: denied.internalMessage ?? '' });
    return deniedFailure(denied);
  }
}

class RunningCall implements AcceptedCall {
  private readonly startedAtMs = performance.now();
  private messages: HandlerStream | undefined;

  constructor(
    private readonly incoming: IncomingCall,
    private readonly replies: CallReplies,
    private readonly options: CallRunnerOptions,
    private readonly inFlight: Set<RunningCall>,
  ) {
    inFlight.add(this);
  }

  run(request: Uint8Array): void {
    if (this.incoming.served.streams) this.stream(request);
    else void this.respond(request);
  }

  cancel(): void {
    if (!this.end('cancelled')) return;
    const { served, context } = this.incoming;
    const isOverdue = Date.now() >= (context.deadlineUnixMs ?? Infinity);
    context.abort(isOverdue ? overdueCall(served) : cancelledCall(served));
  }

  abort(): void {
    this.end('cancelled');
    this.incoming.context.abort(new RpcError('cancelled', 'the server stopped before the call had ended'));
    this.replies.fail(stoppingFailure());
  }

  private async respond(request: Uint8Array): Promise<void> {
    const { served, context } = this.incoming;
    try {
      const message = served.decode(request);
      if (served.permission !== undefined && !(await this.admit(message))) return;
      const response = await served.invoke(message, context);
      if (context.aborted) return;
      const bytes = asBuffer(served.encode(response));
      this.end('ok');
      await this.replies.send(bytes);
      this.replies.succeed();
    } catch (thrown) {
      if (!context.aborted) this.fail(thrown);
    }
  }

  /** Sets the actor of the call. Fails it if the actor is not admitted. */
  private async admit(request: unknown): Promise<boolean> {
    const { served, context, caller } = this.incoming;
    const { actors, onDenied } = this.options;
    try {
      context.actor = await admitActor(served, { request, metadata: context.metadata }, actors);
      return !context.aborted;
    } catch (denied) {
      if (!(denied instanceof RpcError)) throw denied;
      const rpc = `${served.service}/${served.method}`;
      if (denied.failure !== 'unimplemented') {
        onDenied?.({ rpc, caller, reason: denied.internalMessage ?? '' });
      }
      if (this.end(denied.failure)) this.replies.fail(deniedFailure(denied));
      return false;
    }
  }

  private stream(request: Uint8Array): void {
    const { served, context } = this.incoming;
    try {
      this.messages = served.stream(served.decode(request), context, {
        message: (response) => this.sendMessage(response),
        end: () => {
          this.end('ok');
          this.replies.succeed();
        },
        fail: (thrown) => this.fail(thrown),
      });
    } catch (error) {
      return this.fail(error);
    }
    // Immediately, as the handler may not produce its next message for a long time.
    context.signal.addEventListener('abort', () => this.messages?.close());
    this.readMore();
  }

  private readonly readMore = (): void => this.messages?.read();

  private sendMessage(response: unknown): void {
    let hasNoRoom: Promise<void> | undefined;
    try {
      hasNoRoom = this.replies.send(asBuffer(this.incoming.served.encode(response)));
    } catch (error) {
      this.messages?.close();
      return this.fail(error);
    }
    if (hasNoRoom === undefined) this.readMore();
    else void hasNoRoom.then(this.readMore);
  }

  private fail(thrown: unknown): void {
    reportFailure(this.options.log, this.incoming.served, thrown);
    this.end(toGatewayError(thrown).code);
    this.replies.fail(toCallFailure(thrown));
  }

  /** @returns whether the call was still in flight. */
  private end(outcome: string): boolean {
    if (!this.inFlight.delete(this)) return false;
    const { served, context } = this.incoming;
    this.options.onCallEnd?.({
      rpc: `${served.service}/${served.method}`,
      outcome,
      durationMs: performance.now() - this.startedAtMs,
      trace: traceOfCall(context.metadata),
    });
    return true;
  }
}
