import { Cancellation, type CancelSignal } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import type { Finished, GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import { GatewayError, toGatewayError } from '@gateway/errors';
import { isRpcLost } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { AbuseLimiter } from '../abuse-limit/abuse-limiter';
import type { EdgeMetrics } from '../metrics';
import type { ResponseWriter } from '../http/response/response-writer';
import { callMetadata } from '../http/request/call-metadata';
import { RequestCancelled } from '../http/request-cancelled';
import { createEventStream, type EventStream, type KeepAlive } from '../http/response/event-stream';
import { writeResponse } from '../http/response/write-response';
import type { Exchange } from '../http/exchange';
import {
  type FormatName,
  openResponseStream,
  publicParam,
  requestFormats,
  type ResponseContext,
  responseFormats,
  type ResponseHeaders,
  routerEventAfter,
  type StreamRenderer,
} from '@gateway/public-api';
import type { GenerationRunner, Reservation } from '../../core';

/** The header of a response that is charged to an earlier request. */
export const REPLAYED: ResponseHeaders = { 'idempotent-replayed': 'true' };

export interface RunGenerationPorts {
  readonly generationRunner: GenerationRunner;
  readonly writer: ResponseWriter;
  readonly keepAlive: KeepAlive;
  readonly metrics: EdgeMetrics;
  readonly log: Logger;
  readonly abuseLimiter: Pick<AbuseLimiter, 'countSuspicious'>;
  readonly now: () => number;
  /** Deadline of the call to the router, above the router's own total timeout. */
  readonly generationTimeoutMs: number;
}

/** The format of a response, and what it says of its request. */
export interface RequestedFormat {
  readonly format: FormatName;
  readonly context: ResponseContext;
}

export interface GenerationRun {
  readonly exchange: Exchange;
  readonly grant: KeyGrant;
  readonly request: GenerateRequest;
  readonly response: RequestedFormat;
  readonly reservation: Reservation;
  /** The client may retry with its Idempotency-Key, so its disconnect does not cancel the generation. */
  readonly runToCompletion: boolean;
  /** The number of the last event that the client has; undefined when its events have no ids. */
  readonly lastEventId: number | undefined;
}

/**
 * Runs one generation and writes its response. The status is sent with the
 * router's first message, or with the first keep-alive comment: an earlier failure has its own status,
 * a later one ends the stream with an error event. Calls `reservation.finish`;
 * the caller calls `release`.
 *
 * @throws GatewayError before the router's first message; RequestCancelled.
 */
export async function runGeneration(ports: RunGenerationPorts, run: GenerationRun): Promise<void> {
  const { exchange, request, reservation, runToCompletion } = run;
  const signal = runToCompletion ? new Cancellation() : exchange.signal;
  const forwarded = await forwardFrames(ports, run, (onMessage) =>
    ports.generationRunner.run(request, callOf(ports, exchange, signal), onMessage),
  );
  const { finished, thrown, hasStarted } = forwarded;

  // The last message finishes the generation, even when the call fails after it.
  if (finished) {
    const { promptTokens = 0, completionTokens = 0 } = finished.usage ?? {};
    if (finished.usage) ports.metrics.tokensUsed(finished.usage);
    if (finished.exceedsEstimate) ports.abuseLimiter.countSuspicious(run.grant);
    await reservation.finish({ usedTokens: promptTokens + completionTokens, outcome: 'completed' });
    return finishResponse(ports, run, forwarded, finished);
  }

  const { report } = exchange;
  report.generationRecorded = hasStarted ? !isRpcLost(thrown) : toGatewayError(thrown).generationRecorded;
  const isCancelled = exchange.isCancelled() && !runToCompletion;
  if (isCancelled && !hasStarted) ports.abuseLimiter.countSuspicious(run.grant);
  // A router whose connection was lost may still run the generation, so the request may be billed.
  if (!hasStarted && !isCancelled && !isRpcLost(thrown)) {
    if (toGatewayError(thrown).providerCalled) reservation.markProviderCalled();
    // Without a record its ID could never be looked up.
    if (!report.generationRecorded) report.generationId = undefined;
    throw thrown;
  }
  // A settlement is certain only when the router has produced output and is still reachable.
  const settles = hasStarted && !isRpcLost(thrown);
  await reservation.finish({
    usedTokens: request.estimatedInputTokens + forwarded.completionTokens,
    outcome: settles ? 'failed' : isCancelled ? 'cancelled' : 'unknown',
  });
  if (isCancelled) throw new RequestCancelled();
  failResponse(ports, run, forwarded, streamFailure(thrown));
}

export interface FollowedGeneration {
  readonly exchange: Exchange;
  readonly response: RequestedFormat;
  /** As the running request, except that its time is that of this one. */
  readonly request: GenerateRequest;
  /** The number of the last event that the client has; 0 for none. */
  readonly lastEventId: number;
}

/**
 * Writes the rest of a stream that another request with the same Idempotency-Key
 * started, and that still runs.
 *
 * @returns whether it runs and can be followed; if not, nothing was written.
 */
export async function followGeneration(
  ports: RunGenerationPorts,
  followed: FollowedGeneration,
): Promise<boolean> {
  const { exchange, request, response, lastEventId } = followed;
  const { generationId, organizationId } = request;
  exchange.report.generationId = generationId;
  const forwarded = await forwardFrames(
    ports,
    followed,
    (onMessage) =>
      ports.generationRunner.follow(
        { generationId, organizationId, afterEvent: routerEventAfter(response.format, lastEventId) },
        callOf(ports, exchange, exchange.signal),
        onMessage,
      ),
    REPLAYED,
  );
  if (exchange.isCancelled()) throw new RequestCancelled();
  const { finished, hasSent, hasStarted, thrown } = forwarded;
  if (finished) await finishResponse(ports, followed, forwarded, finished, REPLAYED);
  else if (hasStarted || hasSent) failResponse(ports, followed, forwarded, streamFailure(thrown));
  else exchange.report.generationId = undefined;
  return hasStarted || hasSent;
}

/** A router lost during a generation is an `internal_error`, not `no_capacity`: the request may be billed. */
function streamFailure(thrown: unknown): GatewayError {
  if (!isRpcLost(thrown)) return toGatewayError(thrown);
  return new GatewayError('internal_error', { internalMessage: thrown.internalMessage, cause: thrown });
}

/** What is needed to write a response. */
type WrittenRun = Pick<GenerationRun, 'exchange' | 'request' | 'response' | 'lastEventId'>;

/** The state after the router's last message. */
interface ForwardResult {
  readonly finished: Finished | undefined;
  /** The error that ended the messages, when there is no `finished`. */
  readonly thrown: unknown;
  /** Whether the router has sent a message. */
  readonly hasStarted: boolean;
  /** Whether anything was sent to the client. */
  readonly hasSent: boolean;
  /** As last reported by the router. */
  readonly completionTokens: number;
  /** As last reported by the router. */
  readonly finishedChoices: readonly number[];
  /** Writes the end of a stream; undefined for a response that is sent whole. */
  readonly renderer: StreamRenderer | undefined;
}

function callOf({ generationTimeoutMs }: RunGenerationPorts, exchange: Exchange, signal: CancelSignal) {
  return { signal, timeoutMs: generationTimeoutMs, metadata: callMetadata(exchange) };
}

/** Forwards frames to the client as they arrive, no faster than the client reads. */
async function forwardFrames(
  ports: RunGenerationPorts,
  run: WrittenRun,
  readMessages: (onMessage: (message: GenerateResponse) => Promise<void> | undefined) => Promise<void>,
  headers?: ResponseHeaders,
): Promise<ForwardResult> {
  const { exchange, request, response, lastEventId } = run;
  const renderer = request.stream
    ? openResponseStream(response.format, response.context, lastEventId)
    : undefined;
  const stream = renderer && eventStream(ports, exchange, renderer, headers);
  let finished: Finished | undefined;
  let thrown: unknown;
  let hasStarted = false;
  let completionTokens = 0;
  let finishedChoices: readonly number[] = [];

  try {
    await readMessages(({ event }) => {
      hasStarted = true;
      if (event?.$case === 'finished') {
        finished = event.value;
      } else if (event?.$case === 'frames') {
        ({ completionTokens, finishedChoices } = event.value);
        if (exchange.isCancelled()) return undefined;
        return renderer && stream?.write(renderer.push(event.value.sse));
      }
      return undefined;
    });
    if (!finished)
      throw new GatewayError('internal_error', { internalMessage: 'the generation has no last message' });
  } catch (error) {
    thrown = inFormat(error, response.format);
  } finally {
    stream?.close();
    if (stream?.isOpen) ports.metrics.streamClosed();
  }
  return {
    finished,
    thrown,
    hasStarted,
    hasSent: stream?.isOpen === true,
    completionTokens,
    finishedChoices,
    renderer,
  };
}

/** An error of the router names fields of a chat completion. */
function inFormat(error: unknown, format: FormatName): unknown {
  if (format === 'chat' || !(error instanceof GatewayError) || error.param === undefined) return error;
  const { message, cause } = error;
  const param = publicParam(requestFormats[format], error.param);
  return new GatewayError(error.code, { ...error, message, cause, param });
}

function eventStream(
  { writer, keepAlive, metrics, now }: RunGenerationPorts,
  exchange: Exchange,
  renderer: StreamRenderer,
  headers: ResponseHeaders | undefined,
): EventStream {
  return createEventStream(exchange.response, keepAlive, now, () => {
    writer.openEventStream(exchange, headers);
    metrics.streamOpened();
    exchange.failStream = (error) => endWithError(writer, exchange, renderer, [], error);
  });
}

function finishResponse(
  { writer }: RunGenerationPorts,
  { exchange, response: { format, context } }: WrittenRun,
  { hasSent, renderer }: ForwardResult,
  { responseJson }: Finished,
  headers?: ResponseHeaders,
): void | Promise<void> {
  if (exchange.isCancelled()) return;
  if (!renderer) {
    if (responseJson)
      return writeResponse(writer, exchange, responseFormats[format].response(responseJson, context));
    throw new GatewayError('internal_error', {
      internalMessage: 'the finished generation has no response',
    });
  }
  if (!hasSent) writer.openEventStream(exchange, headers);
  writer.end(exchange, renderer.end());
}

function failResponse(
  { writer, log }: RunGenerationPorts,
  { exchange, request }: WrittenRun,
  { hasSent, finishedChoices, renderer }: ForwardResult,
  error: GatewayError,
): void {
  const { generationId, requestId } = request;
  log.warn({ err: error, generationId, requestId }, 'a generation failed');
  if (exchange.isCancelled()) return;
  // While nothing is sent, the failure can have its own status.
  if (!hasSent || !renderer) throw error;
  endWithError(writer, exchange, renderer, finishedChoices, error);
}

/** Ends an open stream. */
function endWithError(
  writer: ResponseWriter,
  exchange: Exchange,
  renderer: StreamRenderer,
  finishedChoices: readonly number[],
  error: GatewayError,
): void {
  exchange.report.error = error;
  writer.end(exchange, renderer.fail(error, finishedChoices));
}
