import type { CancelSignal, Clock } from '@gateway/base';
import { Attempt, MAX_ANSWER_BYTES, MAX_ERROR_BYTES } from './attempt';
import type { Model, Target } from '../catalogue/model-catalogue';
import { classifyAnswer, classifyErrorObject } from './classify-answer';
import { readSystemFingerprint, type Choice, type CompletionHead } from '../completion/completion';
import { CompletionStream } from '../completion/completion-stream';
import type { GenerationRequest } from '../generation/finished-generation';
import { asObject, parseJson } from '../completion/json';
import type { ProviderAnswer, ProviderTransport, RouterObserver, Timers } from '../ports';
import { readCompletion } from '../completion/read-completion';
import { StreamReader } from './stream-reader';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

export interface OpenTargetPorts {
  readonly transport: ProviderTransport;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: RouterObserver;
}

/** A stream whose first event has arrived. */
export interface OpenedStream {
  readonly kind: 'stream';
  readonly attempt: Attempt;
  readonly reader: StreamReader;
}

/** An answer that arrived whole. */
export interface OpenedAnswer {
  readonly kind: 'answer';
  readonly choices: readonly Choice[];
  readonly reportedUsage: unknown;
  readonly systemFingerprint: string | undefined;
}

export interface TargetCall {
  readonly target: Target;
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly head: CompletionHead;
  readonly body: Uint8Array;
  readonly callerSignal: CancelSignal;
  /** Told when the request goes out to the provider. */
  readonly onSent: () => void;
  /** What is left of the generation's time. */
  readonly totalMs: number;
}

/**
 * Calls a target once and waits for the first event, or for the whole answer
 * when it is not streamed. Until then a failure costs the caller nothing.
 *
 * @throws UpstreamFailure
 */
export async function openTarget(
  ports: OpenTargetPorts,
  call: TargetCall,
): Promise<OpenedStream | OpenedAnswer> {
  const { target, request } = call;
  const attempt = new Attempt(target, ports.timers, call.callerSignal, call.totalMs);
  const sentAt = ports.clock.now();
  try {
    const { timeouts } = target.provider;
    if (request.stream) attempt.expect(timeouts.firstEventMs, 'first event');
    else attempt.expect(timeouts.firstByteMs, 'answer');
    const answer = await attempt.send(() =>
      ports.transport.send({
        target,
        body: call.body,
        stream: request.stream,
        signal: attempt.signal,
        onSent: call.onSent,
      }),
    );
    if (answer.status < 200 || answer.status >= 300) throw await refusalOf(attempt, answer, call);
    const opened = request.stream ? await openStream(attempt, call) : await readAnswer(attempt, call);
    ports.observer.firstEventAfter(target, ports.clock.now() - sentAt);
    return opened;
  } catch (error) {
    const failure = toUpstreamFailure(error);
    attempt.abort(failure);
    throw failure;
  }
}

async function openStream(attempt: Attempt, call: TargetCall): Promise<OpenedStream> {
  const { request, target, model } = call;
  const stream = new CompletionStream({
    head: call.head,
    n: request.n,
    includeUsage: request.includeUsage,
    errorOf: (holder) => classifyErrorObject(holder, target, model, request),
  });
  const reader = new StreamReader(attempt, stream);
  await reader.begin();
  attempt.expect(target.provider.timeouts.idleMs, 'next event');
  attempt.pause();
  return { kind: 'stream', attempt, reader };
}

async function readAnswer(attempt: Attempt, call: TargetCall): Promise<OpenedAnswer> {
  const { request, target, model, head } = call;
  attempt.expect(target.provider.timeouts.idleMs, 'rest of the answer');
  const bytes = await attempt.readAll(MAX_ANSWER_BYTES);
  attempt.finish();
  const answer = asObject(parseJson(utf8(bytes)));
  if (!answer) throw new UpstreamFailure('failed', { detail: 'the answer is not a JSON object' });
  const errorOf = (holder: unknown) => classifyErrorObject(holder, target, model, request);
  const error = errorOf(answer);
  if (error) throw error;
  const choices = readCompletion(answer, head, request.n, errorOf);
  if (!choices) throw new UpstreamFailure('failed', { detail: 'the answer holds no completion' });
  const systemFingerprint = readSystemFingerprint(answer['system_fingerprint']);
  return { kind: 'answer', choices, reportedUsage: answer['usage'], systemFingerprint };
}

/** What the provider refused with. Its text is wanted, but an unreadable one changes nothing. */
async function refusalOf(
  attempt: Attempt,
  answer: ProviderAnswer,
  call: TargetCall,
): Promise<UpstreamFailure> {
  const { target, model, request } = call;
  attempt.expect(target.provider.timeouts.idleMs, 'rest of the answer');
  let text = '';
  try {
    text = utf8(await attempt.readAll(MAX_ERROR_BYTES));
    attempt.finish();
  } catch (error) {
    const failure = toUpstreamFailure(error);
    if (failure.kind === 'cancelled') return failure;
  }
  return classifyAnswer(answer.status, text, answer.retryAfter, target, model, request);
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
