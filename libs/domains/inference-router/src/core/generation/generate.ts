import { GatewayError, type GatewayErrorOptions } from '@gateway/errors';
import { targetKey, type Model, type Target } from '../catalogue/model-catalogue';
import type { GenerationRequest } from './finished-generation';
import { GenerationEvents, type GenerationEvent, type GenerationPart } from './generation-events';
import { GenerationRun, type GenerationCall } from './generation-run';
import type { InFlight } from './in-flight';
import type { StreamJournal } from './stream-journal';
import { openGeneration, type OpenGenerationPorts, type OpenedGeneration } from './open-generation';
import type { OpenedStream } from '../provider/open-target';
import { requestsStream } from '../provider/target-call';
import type { CatalogueSource } from '../ports';
import { allowedTargets } from '../routing/order-targets';
import { errorAfterFirstEvent, errorBeforeFirstEvent } from '../failure/public-error';
import type { Bill, FinalizePorts } from './finalize-generation';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

export interface GeneratePorts extends OpenGenerationPorts, Omit<FinalizePorts, 'hiddenOutput'> {
  readonly catalogue: CatalogueSource;
  readonly inFlight: InFlight;
}

export type Generate = <Message>(
  request: GenerationRequest,
  call: GenerationCall,
  toMessage: (event: GenerationEvent) => Message,
) => AsyncIterableIterator<Message, undefined>;

/**
 * Runs one generation. It proceeds only as fast as its messages are read.
 *
 * @throws GatewayError. Before the first event nothing is owed, and the error
 *   reports whether the generation is recorded; after it, it is.
 */
export function createGenerate(given: GeneratePorts): Generate {
  const ports = { ...given, hiddenOutput: new Set<string>() };
  async function* generate(
    request: GenerationRequest,
    call: GenerationCall,
  ): AsyncGenerator<GenerationPart, void, void> {
    if (call.signal.aborted) throw cancelled();
    const model = modelOf(ports, request);
    const releaseSpace = ports.recorder.reserve();
    if (!releaseSpace) throw cannotRecord();
    let release: () => void = () => undefined;
    // Released as soon as the generation is recorded, even if the caller never reads the last message.
    const run = new GenerationRun(ports, request, model, call, () => release());
    const leave = ports.inFlight.enter(() => run.stop());
    if (!leave) {
      releaseSpace();
      await run.close();
      throw stopping();
    }
    ports.observer.generationStarted();
    release = once(() => {
      leave();
      releaseSpace();
      ports.observer.generationEnded();
    });
    try {
      await holdHiddenOutput(ports, run, model);
      const opened = await open(ports, run, request, model);
      if (opened.opened.kind === 'stream') yield* streaming(run, opened.opened, call.journal);
      else yield* nonStreaming(run);
    } finally {
      await run.close();
      release();
    }
  }
  return (request, call, toMessage) => new GenerationEvents(generate(request, call), toMessage);
}

/** A generation that could not be stored would not be charged, so no provider is called. */
function cannotRecord(): GatewayError {
  return new GatewayError('no_capacity', {
    internalMessage: 'the spool is full or its disk accepts no writes',
  });
}

/** The edge checks the same, against a catalogue that may have changed since. */
function modelOf(ports: GeneratePorts, request: GenerationRequest): Model {
  const model = ports.catalogue.current().models.get(request.modelId);
  const isEmbedding = model?.embeddingDimensions !== undefined;
  if (!model || model.disabled || isEmbedding !== (request.embeddings ?? false))
    throw new GatewayError('model_not_found', { param: 'model' });
  if (allowedTargets(model, request).length === 0)
    throw new GatewayError('model_not_allowed', { param: 'model' });
  return model;
}

/** The output of some targets cannot be counted while it is generated. */
async function holdHiddenOutput(
  { hiddenOutput }: Pick<FinalizePorts, 'hiddenOutput'>,
  { gate, request }: GenerationRun,
  { targets }: Model,
): Promise<void> {
  const hidesOutput = (target: Target) =>
    hiddenOutput.has(targetKey(target)) || !requestsStream(request, target);
  if (!gate || !targets.some(hidesOutput)) return;
  if (!(await gate.coverAll())) throw new GatewayError('insufficient_credits', {});
}

async function open(
  ports: GeneratePorts,
  run: GenerationRun,
  request: GenerationRequest,
  model: Model,
): Promise<OpenedGeneration> {
  let providerCalled = false;
  try {
    const opened = await openGeneration(ports, {
      model,
      request,
      head: run.head,
      signal: run.signal,
      gate: run.gate,
      onDispatch: (target, reason) => {
        run.markDispatched(target, reason);
        if (target) providerCalled = true;
      },
      onSent: (bytes) => run.markSent(bytes),
      onFailedAttempt: (target, reason, failure, durationMs) =>
        run.recordAttempt(target, reason, failure.kind, durationMs, failure.reported),
    });
    run.markOpened(opened);
    return opened;
  } catch (error) {
    // Any other error is a bug.
    if (!(error instanceof UpstreamFailure)) throw error;
    throw await failOpening(run, error, providerCalled);
  }
}

/** Records a generation that ended before its first event, and returns the error for the caller. */
async function failOpening(
  run: GenerationRun,
  failure: UpstreamFailure,
  providerCalled: boolean,
): Promise<GatewayError> {
  const isCancelled = failure.kind === 'cancelled';
  const { durable } = isCancelled ? run.cancel() : run.finish('failed_unopened', failure.rule.code);
  // The recorder has logged any error.
  const generationRecorded = await durable.then(
    () => true,
    () => false,
  );
  const options = { providerCalled, generationRecorded };
  if (!isCancelled) return errorBeforeFirstEvent(failure, options);
  return run.isStopped ? stopping(options) : cancelled(options);
}

async function* streaming(
  run: GenerationRun,
  { reader }: OpenedStream,
  journal: StreamJournal | undefined,
): AsyncGenerator<GenerationPart, void, void> {
  const { stream } = reader;
  try {
    yield {
      poll: () => {
        const event = reader.poll();
        if (event !== 'none_yet') run.markEvent();
        if (journal && typeof event === 'object') journal.append(event);
        return event;
      },
      listen: (onArrival) => reader.listen(onArrival),
    };
  } catch (error) {
    await failStream(run, error, stream.started);
  }
  const text = stream.closeOpenChoices(reader.isCutShort ? 'length' : undefined);
  const closing = text === '' ? undefined : reader.frames(text);
  if (closing) journal?.append(closing);
  const finalization = run.finish(reader.isCutShort ? 'cut_short' : 'completed');
  if (closing) yield closing;
  if (run.request.includeUsage) yield reader.frames(stream.usageChunk((await finalization.bill).usageJson));
  yield finished(await finalization.durable, undefined);
}

async function* nonStreaming(run: GenerationRun): AsyncGenerator<GenerationEvent, void, void> {
  const bill = await run.finish('completed').durable;
  yield finished(bill, bill.responseJson());
}

/**
 * Finalizes a stream that failed or was cancelled, and throws the error for the caller.
 *
 * @param hasOutput whether an event was sent, or could be.
 */
async function failStream(run: GenerationRun, thrown: unknown, hasOutput: boolean): Promise<never> {
  if (thrown instanceof GatewayError) {
    await run.finish(hasOutput ? 'unextended' : 'unextended_unsent', thrown.code).durable;
    if (hasOutput) throw thrown;
    const { code, internalMessage } = thrown;
    throw new GatewayError(code, {
      internalMessage,
      cause: thrown,
      providerCalled: true,
      generationRecorded: true,
    });
  }
  const failure = toUpstreamFailure(thrown);
  if (failure.kind === 'cancelled') {
    await run.cancel().durable;
    throw run.isStopped
      ? new GatewayError('internal_error', { internalMessage: 'cancelled because the router stops' })
      : cancelled();
  }
  const error = errorAfterFirstEvent(failure);
  await run.finish('interrupted', error.code, failure.reported).durable;
  throw error;
}

function finished(bill: Bill, responseJson: string | undefined): GenerationEvent {
  const { usage, finishReason, costNanoUsd, exceedsEstimate } = bill;
  return { kind: 'finished', responseJson, usage, finishReason, costNanoUsd, exceedsEstimate };
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

function stopping(options: GatewayErrorOptions = {}): GatewayError {
  return new GatewayError('no_capacity', { internalMessage: 'the router is stopping', ...options });
}

/** No client receives this error; the code only has to exist in the table. */
function cancelled(options: GatewayErrorOptions = {}): GatewayError {
  return new GatewayError('request_timeout', { internalMessage: 'the generation was cancelled', ...options });
}
