import { type Clock, type UnixMs, unreachable } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import type { Completed } from '@gateway/contracts/billing-ledger';
import type { GenerateRequest } from '@gateway/contracts/inference-router';
import { GatewayError, isRefusal, type Refusal, refusalError } from '@gateway/errors';
import {
  dailyBudgetExceeded,
  DONE,
  idempotencyKeyInFlight,
  idempotencyKeyReused,
  insufficientCredits,
  limitExceeded,
  replayChunks,
  type ValidatedChatRequest,
} from '@gateway/public-api';
import type { Reservation } from '../admission/reservation';
import type { Authenticator } from '../access/authenticate';
import type { Admission, AdmissionQueue } from '../../core';
import type { FloodGuard } from '../floods/flood-guard';
import type { Exchange } from '../http/exchange';
import type { BodyReader } from '../http/request/read-body';
import { exceededBudget, exceededLimit, missingCredits } from '../messages';
import { checkBody, type CheckBodyPorts, type CheckedBody } from './check-body';
import type { IdempotentRequest } from './idempotent-request';
import { runGeneration, type RunGenerationPorts } from './run-generation';

export interface ChatCompletionsPorts extends RunGenerationPorts, CheckBodyPorts {
  readonly authenticate: Authenticator;
  readonly floods: FloodGuard;
  readonly admissionQueue: AdmissionQueue;
  readonly readBody: BodyReader;
  readonly openReservation: () => Reservation;
  readonly newGenerationId: () => string;
  readonly clock: Clock;
  /** How long after the call to the router must have ended a hold may live. */
  readonly holdMarginMs: number;
}

/** A request whose faults have all been ruled out. */
interface Checked extends CheckedBody {
  readonly grant: KeyGrant;
}

/** A request with an identity, for which things can be reserved. */
interface Admissible extends Checked {
  readonly generationId: string;
  readonly createdAt: UnixMs;
}

/**
 * POST /v1/chat/completions. Whatever happens on the way, an exception and a
 * caller that cancels included, what the request reserved is released unless it
 * ran.
 */
export async function answerChatCompletion(ports: ChatCompletionsPorts, exchange: Exchange): Promise<void> {
  const reservation = ports.openReservation();
  let refusal: Refusal | undefined;
  try {
    refusal = await checkAndRun(ports, exchange, reservation);
  } finally {
    await reservation.release();
  }
  if (refusal) ports.answer.error(exchange, refusalError(refusal));
}

/**
 * The public order of checks. The fewer moving parts an error depends on, the
 * earlier it comes, so that a faulty request keeps its error whatever the load
 * or the balance:
 *
 *  1     route (before this function)
 *  2–7   key: known, not revoked, not expired, address, organization, scope
 *        (a flood, see FloodGuard, ends here, and so does an overload, see AdmissionQueue)
 *  8     size of the body
 *  9     JSON
 *  10–17 the body by itself, then against the organization's settings
 *  18–24 the body against the model: existence, allowance, capabilities, context
 *  25    Idempotency-Key: usable, same body, replay, in flight
 *  26–28 requests and tokens per minute, concurrency
 *  29–30 balance, daily budgets
 *  31    the model itself
 */
async function checkAndRun(
  ports: ChatCompletionsPorts,
  exchange: Exchange,
  reservation: Reservation,
): Promise<Refusal | undefined> {
  const checked = await check(ports, exchange);
  if (isRefusal(checked)) return checked;
  const { chat, idempotent } = checked;
  const admissible: Admissible = {
    createdAt: ports.clock.now(),
    generationId: ports.newGenerationId(),
    ...checked,
  };
  exchange.modelId = chat.model.id;
  exchange.stopIfCancelled();

  if (idempotent) {
    const claim = await claimIdempotencyKey(reservation, admissible, idempotent);
    if (isRefusal(claim)) return claim;
    if (claim !== 'claimed') return replay(ports, exchange, chat, claim);
    exchange.stopIfCancelled();
  }

  const overLimit = await admit(exchange, reservation, admissible);
  if (overLimit) return overLimit;
  exchange.stopIfCancelled();

  const unaffordable = await hold(ports, reservation, admissible);
  if (unaffordable) return unaffordable;
  exchange.stopIfCancelled();

  exchange.generationId = admissible.generationId;
  ports.metrics.admitted(ports.now() - (exchange.bodyReadAtMs ?? exchange.startedAtMs));
  await runGeneration(ports, {
    exchange,
    request: generateRequest(exchange, admissible),
    reservation,
    runToTheEnd: idempotent !== undefined,
  });
  return undefined;
}

/**
 * The checks that take nothing. A function of its own also so that the body, as
 * it came and as it was parsed, is out of memory before the generation runs.
 */
async function check(ports: ChatCompletionsPorts, exchange: Exchange): Promise<Checked | Refusal> {
  const grant = await ports.authenticate(exchange, 'chat');
  if (isRefusal(grant)) return grant;
  const flood = ports.floods.refuseKey(grant);
  if (flood) return flood;
  const admission = ports.admissionQueue.tryAcquire(grant.organizationId, exchange.isCancelled);
  if (admission.kind !== 'granted') await waitForGrant(ports, exchange, admission);

  const { pieces, bytes } = await ports.readBody(exchange.request, exchange.response);
  exchange.bodyReadAtMs = ports.now();
  const checked = isRefusal(pieces) ? pieces : await checkBody(ports, exchange, grant, pieces);
  if (isRefusal(checked)) ports.floods.countInvalidRequest(grant, checked, bytes);
  return isRefusal(checked) ? checked : { grant, ...checked };
}

/** Under overload requests wait before their bodies are read, so that a queued request uses little memory. */
async function waitForGrant(
  { metrics }: ChatCompletionsPorts,
  exchange: Exchange,
  admission: Exclude<Admission, { kind: 'granted' }>,
): Promise<void> {
  if (admission.kind === 'rejected') {
    metrics.overloadRefused();
    throw new GatewayError('no_capacity', { internalMessage: 'too many requests wait to begin' });
  }
  await admission.granted;
  exchange.stopIfCancelled();
}

async function claimIdempotencyKey(
  reservation: Reservation,
  { grant, generationId }: Admissible,
  { scope, bodySha256 }: IdempotentRequest,
): Promise<'claimed' | Completed | Refusal> {
  const { organizationId } = grant;
  const { outcome } = await reservation.claim({ scope, organizationId, bodySha256, generationId });
  switch (outcome?.$case) {
    case 'claimed':
      return 'claimed';
    case 'completed':
      return outcome.value;
    case 'inFlight':
      return idempotencyKeyInFlight();
    case 'bodyMismatch':
      return idempotencyKeyReused();
    case undefined:
      throw unanswered('a claim');
    default:
      return unreachable(outcome);
  }
}

async function admit(
  exchange: Exchange,
  reservation: Reservation,
  { grant, chat, generationId }: Admissible,
): Promise<Refusal | undefined> {
  const { outcome, requests, tokens } = await reservation.admit({
    admissionId: generationId,
    organizationId: grant.organizationId,
    keyId: grant.keyId,
    tokens: chat.estimatedInputTokens + chat.maxOutputTokens * chat.n,
    organizationLimits: grant.organizationLimits,
    keyLimits: grant.keyLimits,
  });
  exchange.rateLimits = { requests, tokens };
  if (!outcome) throw unanswered('an admission');
  return outcome.$case === 'refused' ? limitExceeded(exceededLimit(outcome.value)) : undefined;
}

async function hold(
  { holdMarginMs, generationTimeoutMs }: ChatCompletionsPorts,
  reservation: Reservation,
  { grant, chat, generationId, createdAt, idempotent }: Admissible,
): Promise<Refusal | undefined> {
  const { outcome } = await reservation.hold({
    holdId: generationId,
    organizationId: grant.organizationId,
    keyId: grant.keyId,
    amountNanoUsd: chat.heldCost,
    prices: chat.model.prices,
    organizationDailyBudgetNanoUsd: grant.organizationLimits?.dailyBudgetNanoUsd,
    keyDailyBudgetNanoUsd: grant.keyLimits?.dailyBudgetNanoUsd,
    deadlineUnixMs: BigInt(createdAt + generationTimeoutMs + holdMarginMs),
    createdUnixMs: BigInt(createdAt),
    idempotencyScope: idempotent?.scope,
  });
  switch (outcome?.$case) {
    case 'held':
      return undefined;
    case 'insufficientCredits':
      return insufficientCredits(missingCredits(outcome.value), chat);
    case 'dailyBudgetExceeded':
      return dailyBudgetExceeded(exceededBudget(outcome.value), createdAt);
    case 'rejected':
      throw new GatewayError('internal_error', {
        internalMessage: `the ledger rejects the hold: ${outcome.value.reason}`,
      });
    case undefined:
      throw unanswered('a hold');
    default:
      return unreachable(outcome);
  }
}

function generateRequest(
  exchange: Exchange,
  { grant, chat, generationId, createdAt, idempotent }: Admissible,
): GenerateRequest {
  return {
    generationId,
    organizationId: grant.organizationId,
    keyId: grant.keyId,
    requestId: exchange.requestId,
    modelId: chat.model.id,
    stream: chat.stream,
    includeUsage: chat.includeUsage,
    bodyJson: chat.bodyJson,
    exactSeed: chat.exactSeed,
    maxOutputTokens: chat.maxOutputTokens,
    n: chat.n,
    createdUnixMs: BigInt(createdAt),
    estimatedInputTokens: chat.estimatedInputTokens,
    inputParts: {
      images: chat.inputParts.images,
      estimatedImageTokens: chat.inputParts.imageTokens,
      hasDefinitions: chat.inputParts.hasDefinitions,
    },
    prices: chat.model.prices,
    externalUser: chat.externalUser,
    idempotencyScope: idempotent?.scope,
  };
}

/** The answer of the first request with this Idempotency-Key, in the form that this one asks for. */
function replay(
  { answer }: ChatCompletionsPorts,
  exchange: Exchange,
  chat: ValidatedChatRequest,
  { generationId, responseJson }: Completed,
): undefined {
  const replayed = { 'idempotent-replayed': 'true' };
  exchange.generationId = generationId;
  if (!chat.stream) {
    answer.json(exchange, 200, responseJson, replayed);
    return;
  }
  const chunks = replayChunks(responseJson, chat.includeUsage);
  answer.openEventStream(exchange, replayed);
  answer.end(exchange, chunks + DONE);
}

function unanswered(what: string): GatewayError {
  return new GatewayError('internal_error', { internalMessage: `${what} without an outcome` });
}
