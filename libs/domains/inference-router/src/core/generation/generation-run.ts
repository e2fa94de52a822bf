import { type Clock, type Prices, Cancellation, type CancelSignal } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { Model, Target } from '../catalogue/model-catalogue';
import { emptyChoice, type Choice, type CompletionHead } from '../completion/completion';
import type { ProviderErrorReport } from '../failure/upstream-failure';
import type { AttemptReason } from '../routing/attempt-reason';
import type { AttemptOutcome } from './attempt-outcome';
import type { CompletionOutcome, GenerationRequest, ProviderAttempt } from './finished-generation';
import type { OpenedGeneration } from './open-generation';
import { countOutput } from './count-output';
import { OutputGate, type ElasticHold } from './output-gate';
import {
  billGeneration,
  NO_USAGE,
  recordGeneration,
  type Bill,
  type GenerationResult,
  type FinalizePorts,
  type GenerationScope,
} from './finalize-generation';
import type { StreamJournal } from './stream-journal';

export interface GenerationCall {
  /** Aborts when the caller cancels, or its deadline passes. */
  readonly signal: CancelSignal;
  readonly deadlineUnixMs: number | undefined;
  readonly traceHeaders: Readonly<Record<string, string>>;
  /** Keeps the events of a stream that its client can resume. */
  readonly journal?: StreamJournal;
  /** Absent: the hold covers the whole output limit. */
  readonly elasticHold?: ElasticHold | undefined;
}

/** The bill of an ended generation, before and after it is recorded durably. */
export interface Finalization {
  readonly bill: Promise<Bill>;
  readonly durable: Promise<Bill>;
}

/**
 * One generation from its first attempt to its record. It is finalized once, by the
 * first of several concurrent ends.
 */
export class GenerationRun {
  readonly head: CompletionHead;
  /** Of a stream whose hold covers a part of its output. */
  readonly gate: OutputGate | undefined;
  /** The target of the current attempt. */
  private dispatchedTo: Target | undefined;
  private dispatchedFor: AttemptReason = 'order';
  private dispatchedAt = 0;
  /** Whether the current attempt's request was sent. */
  private isSent = false;
  private sentBytes = 0;
  private readonly attempts: ProviderAttempt[] = [];
  private opened: OpenedGeneration | undefined;
  private firstEventAt = 0;
  private lastEventAt = 0;
  private firstTokenAt: number | undefined;
  private finalization: Finalization | undefined;
  private stopped = false;
  private isFree = false;
  private readonly scope: GenerationScope;
  private readonly cancellation = new Cancellation();

  constructor(
    private readonly ports: FinalizePorts & { readonly clock: Clock },
    readonly request: GenerationRequest,
    readonly model: Model,
    private readonly call: GenerationCall,
    /** Called once the generation is recorded, or recording has failed. */
    private readonly onEnded: () => void,
  ) {
    this.head = {
      generationId: request.generationId,
      createdUnixS: Math.floor(request.createdUnixMs / 1000),
      modelId: model.id,
    };
    const prices: Prices = request.prices ?? model.prices;
    this.scope = { request, model, head: this.head, prices, traceHeaders: call.traceHeaders };
    this.gate = call.elasticHold && gateOf(ports, request, model, call.elasticHold);
    call.signal.addEventListener('abort', this.onCancel, { once: true });
    if (call.signal.aborted) this.onCancel();
  }

  /** Aborts when the generation is cancelled by its caller, its deadline or a stop of the router. */
  get signal(): CancelSignal {
    return this.cancellation;
  }

  /** The router stopped and its drain time is over. */
  get isStopped(): boolean {
    return this.stopped;
  }

  stop(): void {
    this.stopped = true;
    this.onCancel();
  }

  /** Starts an attempt at a target; undefined after it failed. */
  markDispatched(target: Target | undefined, reason: AttemptReason): void {
    this.dispatchedTo = target;
    this.dispatchedFor = reason;
    this.dispatchedAt = this.ports.clock.now();
    this.isSent = false;
  }

  /** The request of the current attempt was sent. */
  markSent(bytes: number): void {
    this.isSent = true;
    this.sentBytes = bytes;
  }

  recordAttempt(
    target: Target,
    reason: AttemptReason,
    outcome: AttemptOutcome,
    durationMs: number,
    error?: ProviderErrorReport,
  ): void {
    const { provider, providerModel } = target;
    this.attempts.push({
      provider: provider.name,
      providerModel,
      reason,
      outcome,
      durationMs: Math.max(0, durationMs),
      error,
    });
  }

  /** The first event of a stream, or the whole non-streaming response, has arrived. */
  markOpened(opened: OpenedGeneration): void {
    this.opened = opened;
    this.firstEventAt = this.ports.clock.now();
    this.markEvent();
    // The cancellation may have arrived together with the first event.
    if (this.signal.aborted) this.endCancelled();
  }

  markEvent(): void {
    this.lastEventAt = this.ports.clock.now();
    const opened = this.opened?.opened;
    if (this.firstTokenAt !== undefined || opened?.kind !== 'stream') return;
    // The first events of a stream may have a role but no output.
    if (opened.reader.stream.completionTokens > 0) this.firstTokenAt = this.lastEventAt;
  }

  /** All output was produced. */
  complete(): Finalization {
    return this.end('completed', 'ok');
  }

  /** The hold could not be extended: the completion ends with the output that was sent. */
  cutShort(): Finalization {
    return this.end('completed', 'cancelled');
  }

  /** The provider failed after its first event. */
  fail(errorCode: ErrorCode, reported?: ProviderErrorReport): Finalization {
    return this.end('failed', 'interrupted', errorCode, reported);
  }

  /**
   * It is unknown whether the hold could be extended.
   *
   * @param isOwed whether output was sent; without any, nothing is owed.
   */
  failUnextended(errorCode: ErrorCode, isOwed: boolean): Finalization {
    this.isFree = !isOwed;
    return this.end('failed', 'cancelled', errorCode);
  }

  /**
   * Every target failed before its first event. Nothing is owed.
   *
   * @returns whether the failure is recorded.
   */
  failBeforeFirstEvent(errorCode: ErrorCode): Promise<boolean> {
    return this.recordWithoutUsage('failed', errorCode);
  }

  /**
   * Like `cancel`, before the first event. A generation that its caller did not
   * cancel failed.
   *
   * @returns whether it is recorded.
   */
  async cancelBeforeFirstEvent(): Promise<boolean> {
    const finalization = this.cancel();
    if (finalization) return wasRecorded(finalization.durable);
    if (this.stopped) return this.recordWithoutUsage('failed', 'no_capacity');
    if (this.deadlinePassed()) return this.recordWithoutUsage('failed', 'request_timeout');
    return this.recordWithoutUsage('cancelled');
  }

  private recordWithoutUsage(outcome: 'failed' | 'cancelled', errorCode?: ErrorCode): Promise<boolean> {
    if (this.dispatchedTo) {
      const durationMs = this.ports.clock.now() - this.dispatchedAt;
      this.recordAttempt(this.dispatchedTo, this.dispatchedFor, 'cancelled', durationMs);
    }
    const { request, prices, traceHeaders } = this.scope;
    const last = this.attempts.at(-1);
    const recorded = this.ports.recorder.record({
      request,
      prices,
      provider: last?.provider ?? '',
      providerModel: last?.providerModel ?? '',
      outcome,
      finishReason: outcome === 'failed' ? 'error' : '',
      usage: NO_USAGE,
      usageSource: undefined,
      providerCost: undefined,
      latencyMs: Math.max(0, this.ports.clock.now() - request.createdUnixMs),
      generationTimeMs: 0,
      timeToFirstTokenMs: undefined,
      attempts: this.attempts,
      errorCode,
      stored: undefined,
      traceHeaders,
    });
    const offered = recorded.then(() => this.ports.contents.offer(request, undefined));
    return wasRecorded(offered);
  }

  /**
   * The generation is cancelled. It owes its prompt once the request was sent, and a
   * stream its output so far.
   *
   * After a passed deadline or a stop of the router, which the caller did not cause,
   * output that was not delivered is free.
   */
  cancel(): Finalization | undefined {
    if (this.finalization) return this.finalization;
    if (this.opened) return this.endCancelled();
    const owesPrompt = this.isSent && !this.stopped && !this.deadlinePassed();
    return owesPrompt ? this.end('cancelled', 'cancelled') : undefined;
  }

  /** Waits until the generation is recorded, and releases its resources. */
  async close(): Promise<void> {
    this.call.signal.removeEventListener('abort', this.onCancel);
    const finalization = this.opened ? this.cancel() : this.finalization;
    await finalization?.durable.catch(() => undefined);
  }

  private readonly onCancel = (): void => {
    this.cancellation.abort();
    // Do not wait for the next read: a caller that cancelled may never read again.
    if (this.opened) this.endCancelled();
  };

  private endCancelled(): Finalization {
    return this.stopped
      ? this.end('failed', 'interrupted', 'internal_error')
      : this.end('cancelled', 'cancelled');
  }

  private end(
    outcome: CompletionOutcome,
    attempt: AttemptOutcome,
    errorCode?: ErrorCode,
    reported?: ProviderErrorReport,
  ): Finalization {
    if (this.finalization) return this.finalization;
    const target = this.opened?.target ?? this.dispatchedTo;
    if (!target) throw new Error('a generation that was never dispatched cannot end');
    const durationMs = this.ports.clock.now() - this.dispatchedAt;
    this.recordAttempt(target, this.dispatchedFor, attempt, durationMs, reported);
    const result = this.result(outcome, attempt, target, errorCode);
    this.releaseProvider(attempt === 'ok');
    this.ports.observer.attemptEnded(target, attempt);
    const bill = billGeneration(this.ports, this.scope, result);
    const durable = bill.then(async (known) => {
      const needsResponse = this.request.idempotencyScope !== undefined || !this.request.stream;
      const responseJson = outcome === 'completed' && needsResponse ? known.responseJson() : undefined;
      const stored =
        this.request.idempotencyScope === undefined || responseJson === undefined
          ? undefined
          : { responseJson, events: this.completeJournal(known) };
      await recordGeneration(this.ports, this.scope, result, known, stored);
      this.ports.contents.offer(this.request, this.request.embeddings ? undefined : known.responseJson);
      return responseJson === undefined ? known : { ...known, responseJson: () => responseJson };
    });
    // The recorder has logged any error, and the caller may no longer wait for it.
    durable.then(this.onEnded, this.onEnded);
    this.finalization = { bill, durable };
    return this.finalization;
  }

  /** All events of a stream that its client can resume; undefined for others. */
  private completeJournal({ usageJson }: Bill): string | undefined {
    const { journal } = this.call;
    const opened = this.opened?.opened;
    if (!journal || opened?.kind !== 'stream') return undefined;
    if (this.request.includeUsage) {
      journal.append(opened.reader.frames(opened.reader.stream.usageChunk(usageJson)));
    }
    return journal.sse;
  }

  private result(
    outcome: CompletionOutcome,
    attempt: AttemptOutcome,
    target: Target,
    errorCode: ErrorCode | undefined,
  ): GenerationResult {
    const now = this.ports.clock.now();
    const { createdUnixMs } = this.request;
    const firstEventAt = this.opened ? this.firstEventAt : now;
    return {
      outcome,
      errorCode,
      target,
      choices: this.choices(),
      embeddings: this.opened?.opened.kind === 'response' ? this.opened.opened.embeddings : undefined,
      isCut: attempt !== 'ok',
      isFree: this.isFree,
      heldOutputTokens: this.gate?.heldOutputTokens,
      visibleOutputTokens: this.gate?.visibleOutputTokens,
      sentBytes: this.sentBytes,
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

  private reported(): Pick<GenerationResult, 'reportedUsage' | 'systemFingerprint'> {
    const opened = this.opened?.opened;
    if (!opened) return { reportedUsage: undefined, systemFingerprint: undefined };
    const { reportedUsage, systemFingerprint } = opened.kind === 'stream' ? opened.reader.stream : opened;
    return { reportedUsage, systemFingerprint };
  }

  private releaseProvider(isComplete: boolean): void {
    if (!this.opened) return;
    const { opened, release } = this.opened;
    if (opened.kind === 'stream') opened.attempt.end(isComplete);
    release();
  }

  private deadlinePassed(): boolean {
    const { deadlineUnixMs } = this.call;
    return deadlineUnixMs !== undefined && this.ports.clock.now() >= deadlineUnixMs;
  }
}

function gateOf(
  { tokenCounter }: FinalizePorts,
  { maxOutputTokens, organizationId }: GenerationRequest,
  { tokenCounting }: Model,
  hold: ElasticHold,
): OutputGate {
  return new OutputGate({
    hold,
    maxOutputTokens,
    count: (text) => {
      const counted = countOutput(tokenCounter, [text], tokenCounting, organizationId);
      return 'tokens' in counted ? counted.tokens : counted.then(({ tokens }) => tokens);
    },
  });
}

/** The recorder has logged any error. */
function wasRecorded(recorded: Promise<unknown>): Promise<boolean> {
  return recorded.then(
    () => true,
    () => false,
  );
}
