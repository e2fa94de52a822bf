import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type Clock, type Tag, unreachable } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import type { ClaimIdempotencyKeyResponse, Completed, InFlight } from '@gateway/contracts/billing-ledger';
import type { ElasticHold, GenerateRequest } from '@gateway/contracts/inference-router';
import { GatewayError, isRefusal, type Refusal, refusalError } from '@gateway/errors';
import {
  apiTypeOfFormat,
  type FormatName,
  idempotencyKeyInFlight,
  idempotencyKeyReused,
  isEmbeddingModel,
  replayEvents,
  responseFormats,
  streamNotResumable,
  type ValidatedChatRequest,
} from '@gateway/public-api';
import type { Authenticator } from '../access/authenticate';
import {
  type Admissible,
  type Admission,
  type AdmissionQueue,
  type Checked,
  type IdempotentRequest,
  missingOutcome,
  ownRunId,
  type Reservation,
  reserve,
  type ReservePorts,
} from '../../core';
import type { AbuseLimiter } from '../abuse-limit/abuse-limiter';
import type { Exchange } from '../http/exchange';
import type { BodyReader } from '../http/request/read-body';
import type { ResponseWriter } from '../http/response/response-writer';
import { writeResponse } from '../http/response/write-response';
import { checkBody, type CheckBodyPorts } from './check-body';
import {
  followGeneration,
  REPLAYED,
  type RequestedFormat,
  runGeneration,
  type RunGenerationPorts,
} from './run-generation';

export interface ReceiveBodyPorts extends Pick<RunGenerationPorts, 'metrics' | 'now'> {
  readonly authenticate: Authenticator;
  readonly abuseLimiter: AbuseLimiter;
  readonly admissionQueue: AdmissionQueue;
  readonly readBody: BodyReader;
}

/** The ports of each step, in the order of the steps. */
export interface ChatCompletionsPorts {
  readonly receiving: ReceiveBodyPorts;
  readonly checking: CheckBodyPorts;
  readonly reserving: ReservePorts;
  readonly running: RunGenerationPorts;
  readonly openReservation: () => Reservation;
  readonly newGenerationId: () => string;
  readonly clock: Clock;
  readonly writer: ResponseWriter;
}

const inflate = promisify(zlib.inflate);

/** Shared, so that requests without tags allocate nothing. Never changed. */
const NO_TAGS: Tag[] = [];

type ClaimResult = NonNullable<ClaimIdempotencyKeyResponse['outcome']>;

/**
 * POST /v1/chat/completions, and the endpoints of other formats. Releases the reservations of a request that did
 * not run, also after an exception or a cancellation.
 */
export async function handleChatCompletion(
  ports: ChatCompletionsPorts,
  exchange: Exchange,
  format: FormatName,
): Promise<void> {
  const reservation = ports.openReservation();
  let refusal: Refusal | undefined;
  try {
    refusal = await checkAndRun(ports, exchange, reservation, format);
  } finally {
    await reservation.release();
  }
  if (refusal) ports.writer.error(exchange, refusalError(refusal));
}

/**
 * The public order of checks, which docs/reference/errors.md lists. Errors that depend on the request only come first, so
 * that an invalid request gets the same error under any load and balance.
 */
async function checkAndRun(
  ports: ChatCompletionsPorts,
  exchange: Exchange,
  reservation: Reservation,
  format: FormatName,
): Promise<Refusal | undefined> {
  const { abuseLimiter } = ports.receiving;
  const { metrics, now } = ports.running;
  const received = await receiveBody(ports.receiving, exchange, (grant, chunks) =>
    checkBody(ports.checking, exchange, grant, chunks, format),
  );
  if (isRefusal(received)) return received;
  const checked: Checked = { grant: received.grant, ...received.body };
  const { chat, idempotent } = checked;
  let responseKey: Buffer | undefined;
  const admissible: InFormat = {
    format,
    createdAt: ports.clock.now(),
    generationId: ports.newGenerationId(),
    ...checked,
  };
  exchange.throwIfCancelled();

  if (idempotent) {
    const claim = await claimIdempotencyKey(reservation, admissible, idempotent);
    if (isRefusal(claim)) return claim;
    if (claim.$case === 'completed')
      return replay(ports, exchange, admissible, claim.value, idempotent.lastEventId);
    if (claim.$case === 'inFlight') return follow(ports, exchange, admissible, claim.value, idempotent);
    // The stream ended without a response, so its events are not those of this generation.
    if (idempotent.lastEventId) return streamNotResumable();
    exchange.throwIfCancelled();
    ({ responseKey } = claim.value);
  }

  const reserved = await reserve(ports.reserving, exchange, reservation, admissible);
  if (isRefusal(reserved)) {
    // The claim was a write of the ledger, which comes before the rate limits.
    if (idempotent) abuseLimiter.countInvalidRequest(checked.grant, reserved, 0);
    return reserved;
  }
  exchange.throwIfCancelled();

  exchange.report.generationId = admissible.generationId;
  metrics.admitted(now() - received.readAtMs - reserved.waitedForCreditMs);
  const request = generateRequest(exchange, admissible, { ...reserved, responseKey });
  const run = {
    exchange,
    grant: admissible.grant,
    request,
    response: responseTo(format, request, chat),
    reservation,
    runToCompletion: idempotent !== undefined,
    lastEventId: idempotent?.lastEventId,
  };
  try {
    await runGeneration(ports.running, run);
  } catch (error) {
    // A body that only the provider finds invalid costs a hold and its release.
    if (error instanceof GatewayError && error.code === 'invalid_request')
      abuseLimiter.countInvalidRequest(checked.grant, error, 0);
    throw error;
  }
  return undefined;
}

interface ReceivedBody<Body> {
  readonly grant: KeyGrant;
  readonly body: Body;
  /** The size of the body as received, after decompression. */
  readonly bytes: number;
  /** When the last byte of the body arrived. */
  readonly readAtMs: number;
}

/**
 * The checks that reserve nothing. A separate function, so that the received and
 * the parsed body can be garbage collected before the generation runs.
 */
export async function receiveBody<Body extends object>(
  ports: ReceiveBodyPorts,
  exchange: Exchange,
  check: (grant: KeyGrant, chunks: readonly Uint8Array[]) => Promise<Body | Refusal>,
): Promise<ReceivedBody<Body> | Refusal> {
  const grant = await ports.authenticate(exchange, 'chat');
  if (isRefusal(grant)) return grant;
  const abuseRefusal = ports.abuseLimiter.refuseKey(grant);
  if (abuseRefusal) return abuseRefusal;
  const admission = ports.admissionQueue.tryAcquire(grant.organizationId, exchange.isCancelled);
  if (admission.kind !== 'granted') await waitForGrant(ports, exchange, admission);

  const { chunks, bytes } = await ports.readBody(exchange.request, exchange.response, grant.organizationId);
  const readAtMs = ports.now();
  const body = isRefusal(chunks) ? chunks : await check(grant, chunks);
  if (!isRefusal(body)) return { grant, body, bytes, readAtMs };
  const refusal: Refusal = body as Refusal;
  ports.abuseLimiter.countInvalidRequest(grant, refusal, bytes);
  return refusal;
}

/** Requests are queued before their bodies are read, so that a queued request uses little memory. */
async function waitForGrant(
  { metrics }: ReceiveBodyPorts,
  exchange: Exchange,
  admission: Exclude<Admission, { kind: 'granted' }>,
): Promise<void> {
  if (admission.kind === 'rejected' || !(await admission.granted)) {
    metrics.overloadRefused();
    throw new GatewayError('no_capacity', { internalMessage: 'too many requests are queued' });
  }
  exchange.throwIfCancelled();
}

async function claimIdempotencyKey(
  reservation: Reservation,
  { grant, generationId }: Admissible,
  { scope, bodySha256 }: IdempotentRequest,
): Promise<Exclude<ClaimResult, { $case: 'bodyMismatch' }> | Refusal> {
  const { organizationId } = grant;
  const { outcome } = await reservation.claim({ scope, organizationId, bodySha256, generationId });
  switch (outcome?.$case) {
    case 'claimed':
    case 'completed':
    case 'inFlight':
      return outcome;
    case 'bodyMismatch':
      return idempotencyKeyReused();
    case undefined:
      throw missingOutcome('a claim');
    default:
      return unreachable(outcome);
  }
}

interface RequestExtras {
  readonly elasticHold?: ElasticHold | undefined;
  /** Encrypts the response for the Idempotency-Key. */
  readonly responseKey?: Buffer | undefined;
}

function generateRequest(
  exchange: Exchange,
  { grant, chat, format, generationId, createdAt, idempotent, spendLimits }: InFormat,
  { elasticHold, responseKey }: RequestExtras = {},
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
    signedBy: chat.signedBy,
    promptCacheKey: chat.promptCacheKey,
    targetRules: grant.targetRules,
    apiType: apiTypeOfFormat(format),
    externalUser: chat.externalUser,
    tags: chat.tags ?? NO_TAGS,
    idempotencyScope: idempotent?.scope,
    resumable: idempotent?.lastEventId !== undefined,
    runId: spendLimits.run && ownRunId(grant, spendLimits.run.id),
    maxInputTokens:
      spendLimits.run === undefined && spendLimits.maxCostNanoUsd === undefined
        ? undefined
        : chat.heldInputTokens,
    projectId: grant.projectId,
    elasticHold,
    responseKey,
    includeStopSequence: chat.response?.stopSequences === undefined ? undefined : true,
    embeddings: isEmbeddingModel(chat.model) ? true : undefined,
    jsonResponse: chat.isJson,
  };
}

function responseTo(
  format: FormatName,
  { generationId, createdUnixMs, modelId, n, includeUsage, estimatedInputTokens }: GenerateRequest,
  { response: requested = {} }: ValidatedChatRequest,
): RequestedFormat {
  const createdUnixS = Math.floor(Number(createdUnixMs) / 1000);
  const context = { generationId, createdUnixS, modelId, n, includeUsage, estimatedInputTokens, requested };
  return { format, context };
}

/** A request and its format. */
interface InFormat extends Admissible {
  readonly format: FormatName;
}

/** Continues the stream of the first request with this Idempotency-Key, if the client wants that and it can be continued. */
async function follow(
  ports: ChatCompletionsPorts,
  exchange: Exchange,
  admissible: InFormat,
  { generationId }: InFlight,
  { lastEventId }: IdempotentRequest,
): Promise<Refusal | undefined> {
  if (lastEventId === undefined) return idempotencyKeyInFlight();
  const request = generateRequest(exchange, { ...admissible, generationId });
  const response = responseTo(admissible.format, request, admissible.chat);
  return (await followGeneration(ports.running, { exchange, request, response, lastEventId }))
    ? undefined
    : idempotencyKeyInFlight();
}

/** Replays the response of the first request with this Idempotency-Key, streaming or non-streaming as requested. */
async function replay(
  { writer }: ChatCompletionsPorts,
  exchange: Exchange,
  admissible: InFormat,
  { generationId, responseJson, responseEvents }: Completed,
  lastEventId: number | undefined,
): Promise<Refusal | undefined> {
  // Without stored events, earlier ids have no meaning.
  if (lastEventId && !responseEvents) return streamNotResumable();
  exchange.report.generationId = generationId;
  const { chat } = admissible;
  const request = generateRequest(exchange, { ...admissible, generationId });
  const { format, context } = responseTo(admissible.format, request, chat);
  if (!chat.stream) {
    await writeResponse(writer, exchange, responseFormats[format].response(responseJson, context), REPLAYED);
    return undefined;
  }
  const wantsEvents = responseEvents !== undefined && lastEventId !== undefined;
  const events = wantsEvents ? (await inflate(responseEvents)).toString() : undefined;
  const rest = replayEvents(format, { json: responseJson, events }, context, lastEventId);
  writer.openEventStream(exchange, REPLAYED);
  writer.end(exchange, rest);
  return undefined;
}
