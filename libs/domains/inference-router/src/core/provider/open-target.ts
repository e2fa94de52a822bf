import type { Clock } from '@gateway/base';
import { Attempt, MAX_RESPONSE_BYTES } from './attempt';
import { classifyError } from './classify-response';
import { openEmbeddings } from './open-embeddings';
import { notAnObject, readFailure, utf8, type ErrorTexts } from './read-failure';
import { completionsOf, readSystemFingerprint } from '../completion/completion';
import { CompletionStream } from '../completion/completion-stream';
import {
  normalizedDecoder,
  normalizedResponse,
  type NormalizeOptions,
} from '../completion/normalize-response';
import type { GenerationRequest } from '../generation/finished-generation';
import { asObject, parseJson } from '../completion/json';
import type { ProviderTransport, RouterObserver, Timers } from '../ports';
import type { Dialect, EventDecoder } from '../dialects/dialect';
import { dialects } from '../dialects/registry';
import { textsOfField } from '../dialects/texts-of-field';
import { RestoredResponse } from '../dialects/restore-response';
import { createEventParser, type EventParser } from '../framing/event-parser';
import { StreamReader } from './stream-reader';
import { requestsStream, type OpenedResponse, type TargetCall } from './target-call';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

export interface OpenTargetPorts {
  readonly transport: ProviderTransport;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: RouterObserver;
  /** Whether failures have the provider's text in their internal message. It may quote the prompt. */
  readonly logsErrorTexts?: boolean | undefined;
}

const CALL_ID = Buffer.from('"id":"');

/** A stream whose first event has arrived. */
export interface OpenedStream {
  readonly kind: 'stream';
  readonly attempt: Attempt;
  readonly reader: StreamReader;
}

/**
 * Calls a target once and waits for the first event, or for the whole response when
 * not streaming. A failure until then costs the caller nothing.
 *
 * @throws UpstreamFailure
 */
export async function openTarget(
  ports: Omit<OpenTargetPorts, 'observer'> & { readonly observer: Pick<RouterObserver, 'firstEventAfter'> },
  call: TargetCall,
): Promise<OpenedStream | OpenedResponse> {
  const { target, request } = call;
  const attempt = new Attempt(target, ports.timers, call.callerSignal, call.totalMs);
  const sentAt = ports.clock.now();
  try {
    if (call.embeddings) {
      const opened = await openEmbeddings(attempt, ports, call, call.embeddings);
      ports.observer.firstEventAfter(target, ports.clock.now() - sentAt);
      return opened;
    }
    const { providerModel, options, provider } = target;
    const { timeouts } = provider;
    const stream = requestsStream(request, target);
    if (stream) attempt.expect(timeouts.firstEventMs, 'first event');
    else attempt.expect(timeouts.firstByteMs, 'response');
    const response = await attempt.send(() =>
      ports.transport.send({
        target,
        path: dialectOf(call).path({ providerModel, options, stream }),
        body: call.body,
        stream,
        signal: attempt.signal,
        onSent: call.onSent,
      }),
    );
    if (response.status < 200 || response.status >= 300)
      throw await readFailure(attempt, response, ports, call);
    const opened = request.stream
      ? await openStream(attempt, ports, call)
      : await readResponse(attempt, ports, call);
    ports.observer.firstEventAfter(target, ports.clock.now() - sentAt);
    return opened;
  } catch (error) {
    const failure = toUpstreamFailure(error);
    attempt.abort(failure);
    throw failure;
  }
}

async function openStream(
  attempt: Attempt,
  { logsErrorTexts }: ErrorTexts,
  call: TargetCall,
): Promise<OpenedStream> {
  const { timeouts } = call.target.provider;
  const isWhole = !requestsStream(call.request, call.target);
  if (isWhole) attempt.expect(timeouts.idleMs, 'rest of the response');
  const parser = createEventParser(isWhole ? 'sse' : dialectOf(call).framing);
  const reader = new StreamReader(attempt, completionStream(call, logsErrorTexts, parser), parser, call.gate);
  await reader.waitForFirstEvent();
  attempt.expect(timeouts.idleMs, 'next event');
  attempt.pause();
  return { kind: 'stream', attempt, reader };
}

function completionStream(
  call: TargetCall,
  logsErrorTexts: boolean | undefined,
  parser: EventParser,
): CompletionStream {
  const { request, target, model } = call;
  return new CompletionStream({
    head: call.head,
    n: request.n,
    includeUsage: request.includeUsage,
    decoder: normalizedDecoder(restored(call).decoder(decoderOf(call, parser)), normalization(request)),
    signer: namedSigner(call),
    failureOf: (error) => classifyError(error, undefined, target, model, request, logsErrorTexts),
  });
}

/** Decodes events, or a whole response in place of a stream. */
function decoderOf(call: TargetCall, parser: EventParser): EventDecoder {
  const { n } = call.request;
  // The decoder must not retain the call, and with it the request's body.
  const dialect = dialectOf(call);
  const decoder = dialect.createDecoder(n, call.target.providerModel);
  return {
    decode: (data) => {
      if (!parser.isWhole) return decoder.decode(data);
      const response = asObject(parseJson(data));
      if (!response) throw notAnObject();
      const { usage, ...read } = dialect.readResponse(response, n);
      return { ...read, ...(usage === undefined ? {} : { usage }), done: true };
    },
    templateOf: (data) => decoder.templateOf(data),
  };
}

async function readResponse(
  attempt: Attempt,
  { logsErrorTexts }: ErrorTexts,
  call: TargetCall,
): Promise<OpenedResponse> {
  const { request, target, model, head } = call;
  attempt.expect(target.provider.timeouts.idleMs, 'rest of the response');
  const bytes = await attempt.readAll(MAX_RESPONSE_BYTES);
  attempt.finish();
  const response = asObject(parseJson(utf8(bytes)));
  if (!response) return readEvents(bytes, call, logsErrorTexts);
  const read = normalizedResponse(
    restored(call).response(dialectOf(call).readResponse(response, request.n)),
    normalization(request),
  );
  if (read.error) throw classifyError(read.error, undefined, target, model, request, logsErrorTexts);
  if (read.choices.length === 0)
    throw new UpstreamFailure('failed', { detail: 'the response has no completion' });
  const systemFingerprint = readSystemFingerprint(read.systemFingerprint);
  return {
    kind: 'response',
    choices: completionsOf(read.choices, head, namedSigner(call)),
    reportedUsage: read.usage,
    systemFingerprint,
  };
}

/** Some servers send a stream that was not requested. */
function readEvents(
  bytes: Uint8Array,
  call: TargetCall,
  logsErrorTexts: boolean | undefined,
): OpenedResponse {
  const parser = createEventParser(dialectOf(call).framing);
  const stream = completionStream(call, logsErrorTexts, parser);
  const events = [...parser.push(bytes), ...parser.end()];
  if (parser.isWhole || events.length === 0) throw notAnObject();
  for (const event of events) if (!stream.done) stream.push(event);
  if (!stream.complete) throw new UpstreamFailure('failed', { detail: 'a stream without a finish_reason' });
  const { choices, reportedUsage, systemFingerprint } = stream;
  return { kind: 'response', choices, reportedUsage, systemFingerprint };
}

/** The body is searched at the first call of a tool: most responses have none. */
function normalization({ bodyJson, includeStopSequence }: GenerationRequest): NormalizeOptions {
  let ids: ReadonlySet<string> | undefined;
  return {
    isIdInRequest: (id) => {
      const body = Buffer.from(bodyJson.buffer, bodyJson.byteOffset, bodyJson.byteLength);
      ids ??= new Set(textsOfField(body, CALL_ID));
      return ids.has(JSON.stringify(id).slice(1, -1));
    },
    keepsStopSequence: includeStopSequence,
  };
}

/** The signer to name in the response: only where another target could receive its signatures. */
function namedSigner({ target, model }: TargetCall): string | undefined {
  return model.targets.length > 1 ? target.signer : undefined;
}

function restored(call: TargetCall): RestoredResponse {
  return new RestoredResponse(call.request.bodyJson, dialectOf(call).rulesOf(call.target));
}

function dialectOf({ target }: TargetCall): Dialect {
  return dialects[target.provider.dialect];
}
