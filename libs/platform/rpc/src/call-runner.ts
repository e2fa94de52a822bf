import type { ActorVerifier } from '@gateway/actors';
import { ShortLivedSet } from '@gateway/base';
import { HealthDefinition } from '@gateway/contracts/health';
import { toGatewayError } from '@gateway/errors';
import { admitActor, denial, type DeniedCall } from './access';
import type { HandlerStream } from './handler-stream';
import { cancelledCall, overdueCall, RpcError } from './rpc-error';
import { reportFailure, type RpcLog, type ServedMethod } from './served-methods';
import type { RpcCallEnd, ServerCall } from './server-call';
import { traceOfCall } from './traced-call';

export interface CallRunnerOptions<Payload> {
  /** Whether the callers are identified. Otherwise none is refused. */
  readonly identified: boolean;
  readonly refusedCallers?: ReadonlySet<string> | undefined;
  readonly decode: (served: ServedMethod, request: Payload) => unknown;
  readonly encode: (served: ServedMethod, response: unknown) => Payload;
  readonly log?: RpcLog | undefined;
  readonly actors?: ActorVerifier | undefined;
  readonly onDenied?: ((denied: DeniedCall) => void) | undefined;
  readonly onCallEnd?: ((end: RpcCallEnd) => void) | undefined;
}

/** A call that its caller may make. */
export interface AcceptedCall<Payload> {
  /** Runs the handler. */
  run(request: Payload): void;
  /** Fails the call without running its handler. */
  fail(error: Error): void;
  /** Aborts the handler, because the caller no longer waits. Does nothing after the end of the call. */
  cancel(): void;
}

/** Such as a promise. */
export interface Room {
  then(callback: () => void): unknown;
}

/** Where a call sends its messages and its end. */
export interface CallReplies<Payload> {
  /** @returns when there is room for another message; undefined: there is. */
  send(message: Payload): Room | undefined;
  succeed(): void;
  /** @param thrown by the handler */
  fail(thrown: unknown): void;
  /** The call fails for another reason than an error of its handler. */
  refuse(reason: RpcError): void;
}

export interface IncomingCall {
  readonly served: ServedMethod;
  readonly context: ServerCall;
  /** The service that calls; undefined when its certificate names none. */
  readonly caller: string | undefined;
}

/** Checks, runs and counts the calls of a server, for every transport. */
export class CallRunner<Payload> {
  private readonly inFlight = new ShortLivedSet<RunningCall<Payload>>();

  constructor(private readonly options: CallRunnerOptions<Payload>) {}

  /** Accepts a call, or refuses it if its contract does not name the caller. */
  accept(incoming: IncomingCall, replies: CallReplies<Payload>): AcceptedCall<Payload> | undefined {
    const denied = this.denialOf(incoming);
    if (denied === undefined) return new RunningCall(incoming, replies, this.options, this.inFlight);
    replies.refuse(denied);
    return undefined;
  }

  /** Aborts the handlers of all calls, and fails the calls. */
  abortAll(): void {
    for (const call of this.inFlight) call.abort();
  }

  private denialOf({ served, caller }: IncomingCall): RpcError | undefined {
    const { identified, refusedCallers, onCallEnd, onDenied } = this.options;
    if (!identified || served.service === HealthDefinition.fullName) return undefined;
    const isRefused = caller !== undefined && refusedCallers?.has(caller) === true;
    const denied = denial(served, isRefused ? undefined : caller);
    if (denied === undefined) return undefined;
    const rpc = `${served.service}/${served.method}`;
    onCallEnd?.({ rpc, outcome: denied.failure, durationMs: 0, trace: undefined });
    onDenied?.({ rpc, caller, reason: denied.internalMessage ?? '' });
    return denied;
  }
}

class RunningCall<Payload> implements AcceptedCall<Payload> {
  private readonly startedAtMs = performance.now();
  private messages: HandlerStream | undefined;
  private readonly leave: () => boolean;

  constructor(
    private readonly incoming: IncomingCall,
    private readonly replies: CallReplies<Payload>,
    private readonly options: CallRunnerOptions<Payload>,
    inFlight: ShortLivedSet<RunningCall<Payload>>,
  ) {
    this.leave = inFlight.add(this);
  }

  run(request: Payload): void {
    if (this.incoming.served.streams) this.stream(request);
    else void this.respond(request);
  }

  fail(thrown: unknown): void {
    reportFailure(this.options.log, this.incoming.served, thrown);
    this.end(toGatewayError(thrown).code);
    this.replies.fail(thrown);
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
    this.replies.refuse(new RpcError('unavailable', 'the server is stopping'));
  }

  private async respond(request: Payload): Promise<void> {
    const { served, context } = this.incoming;
    try {
      const decoded = this.options.decode(served, request);
      if (served.permission !== undefined && !(await this.admit(decoded))) return;
      const response = await served.invoke(decoded, context);
      if (context.aborted) return;
      const message = this.options.encode(served, response);
      this.end('ok');
      const room = this.replies.send(message);
      if (room !== undefined) await room;
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
      if (this.end(denied.failure)) this.replies.refuse(denied);
      return false;
    }
  }

  private stream(request: Payload): void {
    const { served, context } = this.incoming;
    try {
      this.messages = served.stream(this.options.decode(served, request), context, {
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
    let room: Room | undefined;
    try {
      room = this.replies.send(this.options.encode(this.incoming.served, response));
    } catch (error) {
      this.messages?.close();
      return this.fail(error);
    }
    if (room === undefined) this.readMore();
    else room.then(this.readMore);
  }

  /** @returns whether the call was still in flight. */
  private end(outcome: string): boolean {
    if (!this.leave()) return false;
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
