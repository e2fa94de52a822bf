import { type Clock, type Prices, Cancellation, type CancelSignal } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { Model, Target } from '../catalogue/model-catalogue';
import { emptyChoice, type CompletionHead } from '../completion/completion';
import type { ProviderErrorReport } from '../failure/upstream-failure';
import type { AttemptReason } from '../routing/attempt-reason';
import type { AttemptOutcome } from './attempt-outcome';
import { ENDINGS, type Ending, type EndingRule } from './endings';
import type { GenerationRequest, ProviderAttempt } from './finished-generation';
import type { OpenedGeneration } from './open-generation';
import { countOutput } from './count-output';
import { OutputGate, type ElasticHold } from './output-gate';
import {
  billGeneration,
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

interface CurrentAttempt {
  readonly target: Target;
  readonly reason: AttemptReason;
  readonly startedAt: number;
  /** The size of the request; undefined before it was sent. */
  sentBytes: number | undefined;
}

/** The bill of an ended generation, before and after it is recorded durably. */
export interface Finalization {
  readonly bill: Promise<Bill>;
  readonly durable: Promise<Bill>;
}

/**
 * One generation from its first attempt to its record. It is finalized once, by the
 * first of several concurrent ends, as `ENDINGS` says.
 */
export class GenerationRun {
  readonly head: CompletionHead;
  /** The gate of a stream whose hold covers a part of its output. */
  readonly gate: OutputGate | undefined;
  private current: CurrentAttempt | undefined;
  private readonly attempts: ProviderAttempt[] = [];
  private opened: OpenedGeneration | undefined;
  private firstEventAt = 0;
  private lastEventAt = 0;
  private firstTokenAt: number | undefined;
  private finalization: Finalization | undefined;
  private stopped = false;
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
      createdUnixS: Math.floor(request.createdAt / 1000),
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
    this.current = target && { target, reason, startedAt: this.ports.clock.now(), sentBytes: undefined };
  }

  /** The request of the current attempt was sent. */
  markSent(bytes: number): void {
    if (this.current) this.current.sentBytes = bytes;
  }

  recordAttempt(
    target: Target,
    reason: AttemptReason,
    outcome: AttemptOutcome,
    elapsedMs: number,
    error?: ProviderErrorReport,
  ): void {
    const { provider, providerModel } = target;
    this.attempts.push({
      provider: provider.name,
      providerModel,
      reason,
      outcome,
      durationMs: durationMs(elapsedMs),
      error,
    });
  }

  /** The first event of a stream, or the whole non-streaming response, has arrived. */
  markOpened(opened: OpenedGeneration): void {
    this.opened = opened;
    this.firstEventAt = this.ports.clock.now();
    this.markEvent();
    // The cancellation may have arrived together with the first event.
    if (this.signal.aborted) this.cancel();
  }

  markEvent(): void {
    this.lastEventAt = this.ports.clock.now();
    const opened = this.opened?.opened;
    if (this.firstTokenAt !== undefined || opened?.kind !== 'stream') return;
    // The first events of a stream may have a role but no output.
    if (opened.reader.stream.completionTokens > 0) this.firstTokenAt = this.lastEventAt;
  }

  /** Ends the generation, unless it has ended already. `reported` is what the provider said of its failure. */
  finish(ending: Ending, errorCode?: ErrorCode, reported?: ProviderErrorReport): Finalization {
    if (this.finalization) return this.finalization;
    const { outcome, attempt, owed } = ENDINGS[ending];
    const { current } = this;
    if (current) {
      const elapsedMs = this.ports.clock.now() - current.startedAt;
      this.recordAttempt(current.target, current.reason, attempt, elapsedMs, reported);
    }
    const target = owed === 'no_usage' ? undefined : current?.target;
    const result = this.result(ENDINGS[ending], target, errorCode);
    this.releaseProvider(attempt);
    const bill = billGeneration(this.ports, this.scope, result);
    const durable = bill.then(async (known) => {
      const needsResponse = this.request.idempotencyScope !== undefined || !this.request.stream;
      const responseJson = outcome === 'completed' && needsResponse ? known.responseJson() : undefined;
      const stored =
        this.request.idempotencyScope === undefined || responseJson === undefined
          ? undefined
          : { responseJson, events: this.completeJournal(known) };
      await recordGeneration(this.ports, this.scope, result, known, stored);
      const hasContent = target !== undefined && !this.request.embeddings;
      this.ports.contents.offer(this.request, hasContent ? known.responseJson : undefined);
      return responseJson === undefined ? known : { ...known, responseJson: () => responseJson };
    });
    // The recorder has logged any error, and the caller may no longer wait for it.
    durable.then(this.onEnded, this.onEnded);
    this.finalization = { bill, durable };
    return this.finalization;
  }

  /**
   * Ends a generation whose signal aborted. It owes its prompt once the request was sent, and a stream its output so far.
   *
   * After a passed deadline or a stop of the router, which the caller did not cause, output that was not delivered is
   * free, and the generation failed.
   */
  cancel(): Finalization {
    if (this.opened)
      return this.stopped ? this.finish('interrupted', 'internal_error') : this.finish('cancelled');
    if (this.stopped) return this.finish('failed_unopened', 'no_capacity');
    if (this.deadlinePassed()) return this.finish('failed_unopened', 'request_timeout');
    return this.finish(this.current?.sentBytes === undefined ? 'cancelled_unsent' : 'cancelled');
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
    if (this.opened) this.cancel();
  };

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
    { outcome, attempt, owed }: EndingRule,
    target: Target | undefined,
    errorCode: ErrorCode | undefined,
  ): GenerationResult {
    const now = this.ports.clock.now();
    const { createdAt } = this.request;
    const opened = this.opened?.opened;
    const response = opened?.kind === 'stream' ? opened.reader.stream : opened;
    return {
      outcome,
      errorCode,
      target,
      choices: response?.choices ?? [emptyChoice(0)],
      embeddings: opened?.kind === 'response' ? opened.embeddings : undefined,
      isCut: attempt !== 'ok',
      isFree: owed !== 'usage',
      heldOutputTokens: this.gate?.heldOutputTokens,
      visibleOutputTokens: this.gate?.visibleOutputTokens,
      sentBytes: this.current?.sentBytes ?? 0,
      reportedUsage: response?.reportedUsage,
      systemFingerprint: response?.systemFingerprint,
      durations: {
        latencyMs: durationMs((opened ? this.firstEventAt : now) - createdAt),
        generationTimeMs: durationMs(this.lastEventAt - this.firstEventAt),
        timeToFirstTokenMs:
          this.firstTokenAt === undefined ? undefined : durationMs(this.firstTokenAt - createdAt),
      },
      attempts: this.attempts,
    };
  }

  /** Ends the attempt that responded. `openGeneration` has reported the end of all others. */
  private releaseProvider(outcome: AttemptOutcome): void {
    if (!this.opened) return;
    const { opened, release, target } = this.opened;
    if (opened.kind === 'stream') opened.attempt.end(outcome === 'ok');
    release();
    this.ports.observer.attemptEnded(target, outcome);
  }

  private deadlinePassed(): boolean {
    const { deadlineUnixMs } = this.call;
    return deadlineUnixMs !== undefined && this.ports.clock.now() >= deadlineUnixMs;
  }
}

/** Clamps what differing clocks put out of range, which must not lose the event. */
function durationMs(elapsedMs: number): number {
  return Math.min(Math.max(Math.round(elapsedMs), 0), 0xffff_ffff);
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
