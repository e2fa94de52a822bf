import type { CancelSignal } from '@gateway/base';
import type { Bulkheads } from '../resilience/bulkhead';
import { targetKey, type Model, type Target } from '../catalogue/model-catalogue';
import type { CompletionHead } from '../completion/completion';
import type { GenerationRequest } from './finished-generation';
import type { OutputGate } from './output-gate';
import type { OutputLimitNames } from '../provider/output-limit-names';
import { encodeEmbeddings, type EncodedEmbeddings } from '../provider/encode-embeddings';
import { openTarget, type OpenedStream, type OpenTargetPorts } from '../provider/open-target';
import { requestsStream, type OpenedResponse } from '../provider/target-call';
import type { CircuitBreakers, EncodeThreads, Random, Timers } from '../ports';
import type { TargetOptions } from '../dialects/dialect';
import { dialects, type DialectName } from '../dialects/registry';
import type { AttemptReason } from '../routing/attempt-reason';
import { orderTargets } from '../routing/order-targets';
import type { Switches } from '../resilience/switched-off';
import { retryPauseMs, type RetryBudgets } from '../resilience/retry-budget';
import type { TargetHealth } from '../resilience/target-health';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

export interface OpenGenerationPorts extends OpenTargetPorts {
  readonly breakers: CircuitBreakers;
  readonly bulkheads: Bulkheads;
  readonly retryBudgets: RetryBudgets;
  readonly drains: Switches;
  readonly health: TargetHealth;
  readonly random: Random;
  readonly limitNames: OutputLimitNames;
  readonly encodeThreads: EncodeThreads;
}

/** Copying this much JSON takes a few tenths of a millisecond. */
const LARGE_BODY_BYTES = 1024 * 1024;
/** Parsing, translating and serializing this much JSON takes about a millisecond. */
const LARGE_PARSED_BODY_BYTES = 128 * 1024;
/** Retries after a timeout: a caller that waited for two calls does not wait for a third. */
const MAX_RETRIED_TIMEOUTS = 1;

/** A target that responded. Holds a slot of the provider's bulkhead. */
export interface OpenedGeneration {
  readonly target: Target;
  readonly opened: OpenedStream | OpenedResponse;
  /** Releases the slot; safe to call twice. */
  readonly release: () => void;
}

export interface OpenGenerationCall {
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly head: CompletionHead;
  readonly signal: CancelSignal;
  /** The gate of a stream whose hold covers a part of its output. */
  readonly gate: OutputGate | undefined;
  /** Called with the target of each attempt, and with undefined after the attempt failed. */
  readonly onDispatch: (target: Target | undefined, reason: AttemptReason) => void;
  /** Called with the size of the current attempt's request when it was sent. */
  readonly onSent: (bytes: number) => void;
  /** Called after each failed attempt, but not after a cancelled one, which ends the generation. */
  readonly onFailedAttempt: (
    target: Target,
    reason: AttemptReason,
    failure: UpstreamFailure,
    durationMs: number,
  ) => void;
}

/**
 * Tries the model's targets, as ordered by its routing, until one responds or two calls timed out.
 * A target is retried when the failure allows it, after a jittered backoff and
 * within the provider's retry budget. Targets whose dialect cannot express the request are skipped, as are those
 * whose dialect is that of a provider which rejected it.
 *
 * @throws UpstreamFailure the first rejection by a provider, if there is one; else the last failure of a provider that was
 *   reached; if none was reached, the last failure; if no dialect can express the request, that of the first.
 */
export async function openGeneration(
  ports: OpenGenerationPorts,
  call: OpenGenerationCall,
): Promise<OpenedGeneration> {
  const startedAt = ports.clock.now();
  const latencyMs = (target: Target) => latencyOf(ports.health, target);
  const { targets, reason: first } = orderTargets(
    { random: ports.random, latencyMs },
    call.model,
    call.request,
  );
  let reported: UpstreamFailure | undefined;
  let inexpressible: UpstreamFailure | undefined;
  /** A provider's refusal of the request. It takes precedence, so that the same request gets the same error. */
  let rejection: UpstreamFailure | undefined;
  const rejectedDialects = new Set<DialectName>();
  let triedTargets = 0;
  let timeouts = 0;
  // Each is encoded once: to send it, or to find out whether a target is left.
  const bodies: (EncodedRequest | UpstreamFailure)[] = [];
  const bodyOf = async (position: number, target: Target) =>
    (bodies[position] ??= await encodeUnlessRejected(ports, call, target));
  /** Whether no later target can express the request. */
  const isLast = async (position: number) => {
    for (const [later, target] of targets.entries())
      if (later > position && !((await bodyOf(later, target)) instanceof UpstreamFailure)) return false;
    return true;
  };
  for (const [position, target] of targets.entries()) {
    const { provider } = target;
    if (rejectedDialects.has(provider.dialect)) continue;
    let encoded = await bodyOf(position, target);
    let mayRename = true;
    if (encoded instanceof UpstreamFailure) {
      inexpressible ??= encoded;
      continue;
    }
    if (triedTargets > 0) ports.observer.failedOver(target);
    triedTargets += 1;
    ports.retryBudgets.deposit(provider.name);
    for (let attempt = 1; ; attempt += 1) {
      const totalMs = provider.timeouts.totalMs - (ports.clock.now() - startedAt);
      if (totalMs <= 0)
        throw (
          rejection ??
          reported ??
          new UpstreamFailure('timed_out', { detail: 'the total timeout has passed' })
        );
      const attemptedAt = ports.clock.now();
      const reason = attempt > 1 ? 'retry' : triedTargets > 1 ? 'failover' : first;
      const result = await attemptTarget(ports, call, target, reason, encoded, totalMs);
      if (!(result instanceof UpstreamFailure)) return result;
      ports.observer.attemptEnded(target, result.kind, result);
      if (result.kind !== 'cancelled')
        call.onFailedAttempt(target, reason, result, ports.clock.now() - attemptedAt);
      if (result.refusesLimitName && mayRename) {
        mayRename = false;
        ports.limitNames.refused(target, encoded.limitName);
        const renamed = await encodeUnlessRejected(ports, call, target);
        if (renamed instanceof UpstreamFailure) break;
        encoded = renamed;
        attempt -= 1;
        continue;
      }
      if (result.kind === 'rejected') {
        // Vendors of another dialect may accept what this one refuses.
        rejection ??= result;
        rejectedDialects.add(provider.dialect);
        break;
      }
      if (!result.rule.tryNextTarget) throw rejection ?? result;
      if (!reported || result.rule.dispatched || !reported.rule.dispatched) reported = result;
      if (result.kind === 'timed_out') {
        timeouts += 1;
        if (timeouts > MAX_RETRIED_TIMEOUTS || !target.retryTimeouts) throw rejection ?? result;
      }
      const { retrySameTarget } = result.rule;
      if (attempt >= provider.maxAttempts || retrySameTarget === 'no') break;
      if (retrySameTarget === 'last_target' && !(await isLast(position))) break;
      const waitMs = retryPauseMs(attempt, ports.random(), result.retryAfterMs);
      if (waitMs === undefined || !ports.retryBudgets.withdraw(provider.name)) break;
      await pause(ports.timers, waitMs, call.signal);
      ports.observer.retried(target);
    }
  }
  throw rejection ?? reported ?? inexpressible ?? new Error(`model ${call.model.id} has no targets`);
}

function latencyOf(health: TargetHealth, target: Target): number {
  const { firstEvent, calls } = health.figuresOf(target);
  return firstEvent?.p50Ms ?? (calls === 0 ? 0 : Infinity);
}

interface EncodedRequest {
  readonly body: Uint8Array;
  /** The name of the output limit in the body. */
  readonly limitName: TargetOptions['maxTokensParameter'];
  /** The inputs of a request for embeddings, instead of the body. */
  readonly embeddings?: EncodedEmbeddings;
  readonly bytes: number;
}

/** @returns the failure of a request that the target's dialect cannot express. */
async function encodeUnlessRejected(
  ports: OpenGenerationPorts,
  call: OpenGenerationCall,
  target: Target,
): Promise<EncodedRequest | UpstreamFailure> {
  // A large body is copied in an event-loop turn of its own.
  if (call.request.bodyJson.length > LARGE_BODY_BYTES) await pause(ports.timers, 0, call.signal);
  const options = ports.limitNames.optionsOf(target);
  try {
    const limitName = options.maxTokensParameter;
    if (call.request.embeddings) return encodedEmbeddings(call, target, limitName);
    const body = await encodeRequest(ports, call, target, options);
    return { body, limitName, bytes: body.length };
  } catch (error) {
    if (error instanceof UpstreamFailure && error.kind === 'rejected') return error;
    throw error;
  }
}

const NOTHING = new Uint8Array();

function encodedEmbeddings(
  { request: { bodyJson }, model }: OpenGenerationCall,
  target: Target,
  limitName: EncodedRequest['limitName'],
): EncodedRequest {
  const embeddings = encodeEmbeddings(bodyJson, target, model);
  const bytes = embeddings.calls.reduce((sum, { body }) => sum + body.length, 0);
  return { body: NOTHING, limitName, embeddings, bytes };
}

function encodeRequest(
  ports: OpenGenerationPorts,
  { model, request, signal }: OpenGenerationCall,
  target: Target,
  options: TargetOptions,
): Uint8Array | Promise<Uint8Array> {
  const { provider, providerModel, signer } = target;
  const { maxOutputTokens, n, exactSeed } = request;
  const stream = requestsStream(request, target);
  const ownsUntagged = target === model.targets[0];
  const encoding = { providerModel, options, stream, maxOutputTokens, n, exactSeed, signer, ownsUntagged };
  const dialect = dialects[provider.dialect];
  const body = request.bodyJson;
  if (body.length > LARGE_PARSED_BODY_BYTES && dialect.parsesBody(body, encoding)) {
    const owner = request.organizationId;
    return ports.encodeThreads.encode({ dialect: provider.dialect, body, call: encoding, owner, signal });
  }
  const turn = () => pause(ports.timers, 0, signal);
  return dialect.encodeRequest(body, encoding, turn);
}

async function attemptTarget(
  ports: OpenGenerationPorts,
  call: OpenGenerationCall,
  target: Target,
  reason: AttemptReason,
  { body, embeddings, bytes }: EncodedRequest,
  totalMs: number,
): Promise<OpenedGeneration | UpstreamFailure> {
  const key = targetKey(target);
  if (ports.drains.of(key)) return new UpstreamFailure('drained', { detail: `${key}: is drained` });
  const leaveProvider = ports.bulkheads.enter(target.provider, call.request.organizationId);
  if (!leaveProvider) {
    return new UpstreamFailure('bulkhead_full', {
      detail: `${target.provider.name}: the organization's share of the slots is in use`,
    });
  }
  const leaveTarget = ports.health.enter(target);
  const release = releaseBoth(leaveProvider, leaveTarget);
  try {
    const opened = await ports.breakers.run(target, call.request.organizationId, () => {
      call.onDispatch(target, reason);
      const { model, request, head, signal, gate } = call;
      return openTarget(ports, {
        target,
        model,
        request,
        head,
        body,
        embeddings,
        gate,
        totalMs,
        callerSignal: signal,
        onSent: () => call.onSent(bytes),
      });
    });
    return { target, opened, release };
  } catch (error) {
    release();
    const failure = toUpstreamFailure(error);
    if (failure.kind !== 'cancelled') call.onDispatch(undefined, reason);
    return failure;
  }
}

/** Outside of the caller, whose request body a closure would retain while the stream is open. */
function releaseBoth(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}

/** Waits. Rejects when the generation is cancelled. */
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
