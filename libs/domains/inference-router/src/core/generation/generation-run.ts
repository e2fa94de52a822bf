import { type Clock, type Prices, Cancellation, type CancelSignal } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { Model, Target } from '../catalogue/model-catalogue';
import { emptyChoice, type Choice, type CompletionHead } from '../completion/completion';
import type { AttemptOutcome } from './attempt-outcome';
import type { CompletionOutcome, GenerationRequest, ProviderAttempt } from './finished-generation';
import type { OpenedGeneration } from './open-generation';
import {
  billGeneration,
  recordGeneration,
  type Bill,
  type Outcome,
  type SettlePorts,
  type SettleScope,
} from './settle-generation';

export interface GenerationCall {
  /** Aborts when the caller cancels, or its deadline passes. */
  readonly signal: CancelSignal;
  readonly deadlineUnixMs: number | undefined;
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** What an ended generation owes, and when that is durable. */
export interface Settling {
  readonly bill: Promise<Bill>;
  readonly durable: Promise<Bill>;
}

/**
 * One generation from its first attempt to its settlement. However it ends,
 * and however many ends coincide, it is settled once: by the first of them.
 */
export class GenerationRun {
  readonly head: CompletionHead;
  /** The target that has the request now. */
  private dispatchedTo: Target | undefined;
  private dispatchedAt = 0;
  /** Whether that target's provider may have read any of it. */
  private isSent = false;
  private readonly attempts: ProviderAttempt[] = [];
  private opened: OpenedGeneration | undefined;
  private firstEventAt = 0;
  private lastEventAt = 0;
  private firstTokenAt: number | undefined;
  private settling: Settling | undefined;
  private stopped = false;
  private readonly scope: SettleScope;
  private readonly cancellation = new Cancellation();

  constructor(
    private readonly ports: SettlePorts & { readonly clock: Clock },
    readonly request: GenerationRequest,
    readonly model: Model,
    private readonly call: GenerationCall,
    /** Called once its end is durable, or could not be made so. */
    private readonly onEnded: () => void,
  ) {
    this.head = {
      generationId: request.generationId,
      createdUnixS: Math.floor(request.createdUnixMs / 1000),
      modelId: model.id,
    };
    const prices: Prices = request.prices ?? model.prices;
    this.scope = { request, model, head: this.head, prices, traceHeaders: call.traceHeaders };
    call.signal.addEventListener('abort', this.onCancel, { once: true });
    if (call.signal.aborted) this.onCancel();
  }

  /** Aborts when the generation is cancelled: by its caller, its deadline, or a stop. */
  get signal(): CancelSignal {
    return this.cancellation;
  }

  /** The router stops and can wait no longer. */
  get isStopped(): boolean {
    return this.stopped;
  }

  stop(): void {
    this.stopped = true;
    this.onCancel();
  }

  /** Which target has the request; undefined when it no longer has. */
  dispatched(target: Target | undefined): void {
    this.dispatchedTo = target;
    this.dispatchedAt = this.ports.clock.now();
    this.isSent = false;
  }

  /** The request has gone out to the target that it was dispatched to. */
  sent(): void {
    this.isSent = true;
  }

  tried(target: Target, outcome: AttemptOutcome, durationMs: number): void {
    const { provider, providerModel } = target;
    this.attempts.push({
      provider: provider.name,
      providerModel,
      outcome,
      durationMs: Math.max(0, durationMs),
    });
  }

  begin(opened: OpenedGeneration): void {
    this.opened = opened;
    this.firstEventAt = this.ports.clock.now();
    this.sawEvent();
    // It may have been cancelled in the very moment of the first event.
    if (this.signal.aborted) this.endCancelled();
  }

  sawEvent(): void {
    this.lastEventAt = this.ports.clock.now();
    const opened = this.opened?.opened;
    if (this.firstTokenAt !== undefined || opened?.kind !== 'stream') return;
    // The first events of a stream may hold a role and no output yet.
    if (opened.reader.stream.completionTokens > 0) this.firstTokenAt = this.lastEventAt;
  }

  /** The whole generation was produced. */
  complete(): Settling {
    return this.end('answered', 'ok');
  }

  /** The provider failed after its first event. */
  fail(errorCode: ErrorCode): Settling {
    return this.end('failed', 'broken_off', errorCode);
  }

  /**
   * The generation is cancelled. A stream owes what was produced so far; before its
   * first event that is nothing. An answer that is not streamed may have been
   * generated to any length by then: it owes its prompt, once that has gone out to
   * the provider, and nothing of the output it never got.
   *
   * A passed deadline or a stop of ours is not the caller's doing, so nothing
   * unseen is owed then.
   */
  cancel(): Settling | undefined {
    if (this.settling) return this.settling;
    if (this.opened) return this.endCancelled();
    const owesPrompt = !this.request.stream && this.isSent && !this.stopped && !this.deadlinePassed();
    return owesPrompt ? this.end('cancelled', 'cancelled') : undefined;
  }

  /** Waits until what has ended is durable, and releases everything. */
  async close(): Promise<void> {
    this.call.signal.removeEventListener('abort', this.onCancel);
    const settling = this.opened ? this.cancel() : this.settling;
    await settling?.durable.catch(() => undefined);
  }

  private readonly onCancel = (): void => {
    this.cancellation.abort();
    // A caller that cancelled may never ask for the next event, so its end must not wait for that.
    if (this.opened) this.endCancelled();
  };

  private endCancelled(): Settling {
    return this.stopped
      ? this.end('failed', 'broken_off', 'internal_error')
      : this.end('cancelled', 'cancelled');
  }

  private end(ending: CompletionOutcome, attempt: AttemptOutcome, errorCode?: ErrorCode): Settling {
    if (this.settling) return this.settling;
    const target = this.opened?.target ?? this.dispatchedTo;
    if (!target) throw new Error('a generation that no provider has cannot end');
    this.tried(target, attempt, this.ports.clock.now() - this.dispatchedAt);
    const outcome = this.outcome(ending, target, errorCode);
    this.releaseProvider(ending);
    this.ports.observer.attemptEnded(target, attempt);
    const bill = billGeneration(this.ports, this.scope, outcome);
    const durable = bill.then(async (known) => {
      const keeps = this.request.idempotencyScope !== undefined || !this.request.stream;
      const responseJson = ending === 'answered' && keeps ? known.responseJson() : undefined;
      const stored = this.request.idempotencyScope === undefined ? undefined : responseJson;
      await recordGeneration(this.ports, this.scope, outcome, known, stored);
      return responseJson === undefined ? known : { ...known, responseJson: () => responseJson };
    });
    // Whoever is still there awaits it; when nobody is, the recorder has told the log.
    durable.then(this.onEnded, this.onEnded);
    this.settling = { bill, durable };
    return this.settling;
  }

  private outcome(ending: CompletionOutcome, target: Target, errorCode: ErrorCode | undefined): Outcome {
    const now = this.ports.clock.now();
    const { createdUnixMs } = this.request;
    const firstEventAt = this.opened ? this.firstEventAt : now;
    return {
      ending,
      errorCode,
      target,
      choices: this.choices(),
      ...this.reported(),
      latencyMs: Math.max(0, firstEventAt - createdUnixMs),
      generationTimeMs: Math.max(0, this.lastEventAt - this.firstEventAt),
      timeToFirstTokenMs:
        this.firstTokenAt === undefined ? undefined : Math.max(0, this.firstTokenAt - createdUnixMs),
      attempts: this.attempts,
    };
  }

  private choices(): readonly Choice[] {
    const opened = this.opened?.opened;
    if (!opened) return [emptyChoice(0)];
    return opened.kind === 'stream' ? opened.reader.stream.choices : opened.choices;
  }

  private reported(): Pick<Outcome, 'reportedUsage' | 'systemFingerprint'> {
    const opened = this.opened?.opened;
    if (!opened) return { reportedUsage: undefined, systemFingerprint: undefined };
    const { reportedUsage, systemFingerprint } = opened.kind === 'stream' ? opened.reader.stream : opened;
    return { reportedUsage, systemFingerprint };
  }

  private releaseProvider(ending: CompletionOutcome): void {
    if (!this.opened) return;
    const { opened, release } = this.opened;
    if (opened.kind === 'stream') opened.attempt.end(ending === 'answered');
    release();
  }

  private deadlinePassed(): boolean {
    const { deadlineUnixMs } = this.call;
    return deadlineUnixMs !== undefined && this.ports.clock.now() >= deadlineUnixMs;
  }
}
