import type { CancelSignal } from '@gateway/base';
import type { Bulkheads } from '../resilience/bulkhead';
import { targetKey, type Model, type Target } from '../catalogue/model-catalogue';
import type { CompletionHead } from '../completion/completion';
import type { GenerationRequest } from './finished-generation';
import {
  openTarget,
  type OpenedAnswer,
  type OpenedStream,
  type OpenTargetPorts,
} from '../provider/open-target';
import type { CircuitBreakers, Random, Timers } from '../ports';
import { providerRequestBody } from '../provider/request-body';
import type { Drains } from '../resilience/drains';
import { retryPauseMs, type RetryBudgets } from '../resilience/retry-budget';
import type { TargetHealth } from '../resilience/target-health';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

export interface OpenGenerationPorts extends OpenTargetPorts {
  readonly breakers: CircuitBreakers;
  readonly bulkheads: Bulkheads;
  readonly retryBudgets: RetryBudgets;
  readonly drains: Drains;
  readonly health: TargetHealth;
  readonly random: Random;
}

/** Of JSON; copying this much takes a few tenths of a millisecond. */
const LARGE_BODY_BYTES = 1024 * 1024;
/** Timeouts that are retried: a caller who has waited for two calls waits for no third. */
const MAX_RETRIED_TIMEOUTS = 1;

/** A target that answers, with its place in the provider's bulkhead. */
export interface OpenedGeneration {
  readonly target: Target;
  readonly opened: OpenedStream | OpenedAnswer;
  /** Of the place; safe to call twice. */
  readonly release: () => void;
}

export interface OpenGenerationCall {
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly head: CompletionHead;
  readonly signal: CancelSignal;
  /** Told which target has the request, and undefined when it no longer has. */
  readonly onDispatch: (target: Target | undefined) => void;
  /** Told when the request has gone out to that target. */
  readonly onSent: () => void;
  /** Told of each try that failed, but not of one that was cancelled: that ends the generation. */
  readonly onFailedAttempt: (target: Target, failure: UpstreamFailure, durationMs: number) => void;
}

/**
 * Tries the model's targets in order until one answers, or two calls timed
 * out. A target is tried again, after a jittered wait and within its provider's
 * retry budget, when its failure allows it.
 *
 * @throws UpstreamFailure the most telling failure: one of a provider that was
 *   reached before one of a provider that was not, else the last.
 */
export async function openGeneration(
  ports: OpenGenerationPorts,
  call: OpenGenerationCall,
): Promise<OpenedGeneration> {
  const startedAt = ports.clock.now();
  const { targets } = call.model;
  let told: UpstreamFailure | undefined;
  let timeouts = 0;
  for (const [position, target] of targets.entries()) {
    const { provider } = target;
    const isLast = position === targets.length - 1;
    // Copying a large body is for a turn of the event loop of its own.
    if (call.request.bodyJson.length > LARGE_BODY_BYTES) await pause(ports.timers, 0, call.signal);
    const body = await providerRequestBody(call.request, target, () => pause(ports.timers, 0, call.signal));
    if (position > 0) ports.observer.failedOver(target);
    ports.retryBudgets.deposit(provider.name);
    for (let attempt = 1; ; attempt += 1) {
      const totalMs = provider.timeouts.totalMs - (ports.clock.now() - startedAt);
      if (totalMs <= 0) throw told ?? new UpstreamFailure('timed_out', { detail: 'no time is left' });
      const triedAt = ports.clock.now();
      const result = await tryTarget(ports, call, target, body, totalMs);
      if (!(result instanceof UpstreamFailure)) return result;
      ports.observer.attemptEnded(target, result.kind, result);
      if (result.kind !== 'cancelled') call.onFailedAttempt(target, result, ports.clock.now() - triedAt);
      if (!result.rule.tryNextTarget) throw result;
      if (!told || result.rule.dispatched || !told.rule.dispatched) told = result;
      if (result.kind === 'timed_out') {
        timeouts += 1;
        if (timeouts > MAX_RETRIED_TIMEOUTS || !target.retryTimeouts) throw result;
      }
      if (attempt >= provider.maxAttempts || !mayRetry(result, isLast)) break;
      const waitMs = retryPauseMs(attempt, ports.random(), result.retryAfterMs);
      if (waitMs === undefined || !ports.retryBudgets.withdraw(provider.name)) break;
      await pause(ports.timers, waitMs, call.signal);
      ports.observer.retried(target);
    }
  }
  throw told ?? new Error(`model ${call.model.id} has no targets`);
}

function mayRetry(failure: UpstreamFailure, isLastTarget: boolean): boolean {
  const { retrySameTarget } = failure.rule;
  return retrySameTarget === 'yes' || (retrySameTarget === 'last_target' && isLastTarget);
}

async function tryTarget(
  ports: OpenGenerationPorts,
  call: OpenGenerationCall,
  target: Target,
  body: Uint8Array,
  totalMs: number,
): Promise<OpenedGeneration | UpstreamFailure> {
  const key = targetKey(target);
  if (ports.drains.of(key)) return new UpstreamFailure('drained', { detail: `${key}: is drained` });
  const leaveProvider = ports.bulkheads.enter(target.provider);
  if (!leaveProvider) {
    return new UpstreamFailure('bulkhead_full', { detail: `${target.provider.name}: all slots are in use` });
  }
  const leaveTarget = ports.health.enter(target);
  const release = both(leaveProvider, leaveTarget);
  try {
    const opened = await ports.breakers.run(target, call.request.organizationId, () => {
      call.onDispatch(target);
      const { model, request, head, signal, onSent } = call;
      return openTarget(ports, { target, model, request, head, body, callerSignal: signal, onSent, totalMs });
    });
    return { target, opened, release };
  } catch (error) {
    release();
    const failure = toUpstreamFailure(error);
    if (failure.kind !== 'cancelled') call.onDispatch(undefined);
    return failure;
  }
}

/** Not within the call, whose body it would keep for as long as a stream is open. */
function both(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}

/** Waits, unless the generation is cancelled first. */
function pause(timers: Timers, ms: number, signal: CancelSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      timer.cancel();
      reject(new UpstreamFailure('cancelled', { detail: 'cancelled between attempts' }));
    };
    const timer = timers.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
