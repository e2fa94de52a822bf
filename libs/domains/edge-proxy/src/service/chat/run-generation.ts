import { Cancellation } from '@gateway/base';
import type { Finished, GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import { GatewayError, toGatewayError } from '@gateway/errors';
import { isRpcLost } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { Reservation } from '../admission/reservation';
import type { EdgeMetrics } from '../metrics';
import type { Answerer } from '../http/answer/answer';
import { callMetadata } from '../http/request/call-metadata';
import { RequestCancelled } from '../http/request-cancelled';
import { createEventStream, type EventStream, type KeepAlive } from '../http/answer/event-stream';
import type { Exchange } from '../http/exchange';
import { DONE, errorChunk } from '@gateway/public-api';
import type { GenerationRunner } from '../../core';

export interface RunGenerationPorts {
  readonly generationRunner: GenerationRunner<GenerateRequest, GenerateResponse>;
  readonly answer: Answerer;
  readonly keepAlive: KeepAlive;
  readonly metrics: EdgeMetrics;
  readonly log: Logger;
  readonly now: () => number;
  /** Of the call to the router; the router's own total timeout is below it. */
  readonly generationTimeoutMs: number;
}

export interface GenerationRun {
  readonly exchange: Exchange;
  readonly request: GenerateRequest;
  readonly reservation: Reservation;
  /** The caller may come back for the answer, so cancelling does not stop the generation. */
  readonly runToTheEnd: boolean;
}

/**
 * Runs one generation and writes its answer. The status is held back until the
 * router's first message: a failure before it is thrown and keeps its own
 * status, one after it ends the stream with the error chunk. What was reserved is
 * ended here; what must be released is left to the caller's `release`.
 *
 * @throws GatewayError when nothing was sent; RequestCancelled.
 */
export async function runGeneration(ports: RunGenerationPorts, run: GenerationRun): Promise<void> {
  const { exchange, request, reservation, runToTheEnd } = run;
  const pass = await passOn(ports, run);
  const { finished, thrown, hasStarted } = pass;

  // The end of a generation is its last message, whatever happens to the call after it.
  if (finished) {
    const { promptTokens = 0, completionTokens = 0 } = finished.usage ?? {};
    if (finished.usage) ports.metrics.tokensUsed(finished.usage);
    await reservation.end({ usedTokens: promptTokens + completionTokens, outcome: 'settles' });
    return endWell(ports, exchange, request, pass.hasSent, finished);
  }

  const isCancelled = exchange.isCancelled() && !runToTheEnd;
  // A router that was lost may have begun, or begin when it comes back: nobody can say that nothing is billed.
  if (!hasStarted && !isCancelled && !isRpcLost(thrown)) {
    if (toGatewayError(thrown).providerCalled) reservation.keepRequest();
    throw thrown;
  }
  // Only what has produced something, on a router that is still there, is sure to settle.
  const outcome = hasStarted && !isRpcLost(thrown) ? 'settles_failed' : 'unknown';
  await reservation.end({ usedTokens: request.estimatedInputTokens + pass.completionTokens, outcome });
  if (isCancelled) throw new RequestCancelled();
  endWithError(ports, exchange, request, pass.hasSent, brokenOff(thrown));
}

/** A router that is lost on the way is not a lack of capacity: the request may well be billed. */
function brokenOff(thrown: unknown): GatewayError {
  if (!isRpcLost(thrown)) return toGatewayError(thrown);
  return new GatewayError('internal_error', { internalMessage: thrown.internalMessage, cause: thrown });
}

/** What is known once the router's messages have ended. */
interface Passed {
  readonly finished: Finished | undefined;
  /** Why they ended, when it was not with `finished`. */
  readonly thrown: unknown;
  /** Whether the router has produced anything. */
  readonly hasStarted: boolean;
  /** Whether the caller was sent anything. */
  readonly hasSent: boolean;
  /** As last heard of. */
  readonly completionTokens: number;
}

/** Passes frames to the caller as they come, no faster than the caller reads. */
async function passOn(
  ports: RunGenerationPorts,
  { exchange, request, runToTheEnd }: GenerationRun,
): Promise<Passed> {
  const cancel = new Cancellation();
  if (!runToTheEnd) exchange.onCancelled(() => cancel.abort());
  let stream: EventStream | undefined;
  let finished: Finished | undefined;
  let thrown: unknown;
  let hasStarted = false;
  let completionTokens = 0;

  try {
    const call = { signal: cancel, timeoutMs: ports.generationTimeoutMs, metadata: callMetadata(exchange) };
    await ports.generationRunner.run(request, call, ({ event }) => {
      hasStarted = true;
      if (event?.$case === 'finished') {
        finished = event.value;
      } else if (event?.$case === 'frames') {
        completionTokens = event.value.completionTokens;
        if (exchange.isCancelled()) return undefined;
        stream ??= openStream(ports, exchange);
        return stream.write(event.value.sse);
      }
      return undefined;
    });
    if (!finished)
      throw new GatewayError('internal_error', { internalMessage: 'a generation without an end' });
  } catch (error) {
    thrown = error;
  } finally {
    stream?.close();
    if (stream) ports.metrics.streamClosed();
  }
  return { finished, thrown, hasStarted, hasSent: stream !== undefined, completionTokens };
}

function openStream(
  { answer, keepAlive, metrics, now }: RunGenerationPorts,
  exchange: Exchange,
): EventStream {
  answer.openEventStream(exchange);
  metrics.streamOpened();
  return createEventStream(exchange.response, keepAlive, now);
}

function endWell(
  { answer }: RunGenerationPorts,
  exchange: Exchange,
  request: GenerateRequest,
  hasSent: boolean,
  { responseJson }: Finished,
): void {
  if (exchange.isCancelled()) return;
  if (!request.stream) {
    if (responseJson) return answer.json(exchange, 200, responseJson);
    throw new GatewayError('internal_error', {
      internalMessage: 'a finished generation without its response',
    });
  }
  if (!hasSent) answer.openEventStream(exchange);
  answer.end(exchange, DONE);
}

function endWithError(
  { answer, log }: RunGenerationPorts,
  exchange: Exchange,
  request: GenerateRequest,
  hasSent: boolean,
  error: GatewayError,
): void {
  const { generationId, requestId } = request;
  log.warn(
    { err: error, internal: error.internalMessage, generationId, requestId },
    'a generation broke off',
  );
  if (exchange.isCancelled()) return;
  // With nothing on the wire yet the failure can still have its own status.
  if (!hasSent) throw error;
  exchange.errorCode = error.code;
  const chunk = errorChunk({
    generationId,
    createdUnixS: Math.floor(Number(request.createdUnixMs) / 1000),
    modelId: request.modelId,
    error,
  });
  answer.end(exchange, chunk + DONE);
}
