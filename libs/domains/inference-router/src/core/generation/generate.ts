import { GatewayError } from '@gateway/errors';
import type { Model } from '../catalogue/model-catalogue';
import type { GenerationRequest } from './finished-generation';
import { GenerationEvents, type GenerationEvent, type GenerationPart } from './generation-events';
import { GenerationRun, type GenerationCall } from './generation-run';
import type { InFlight } from './in-flight';
import { openGeneration, type OpenGenerationPorts, type OpenedGeneration } from './open-generation';
import type { OpenedStream } from '../provider/open-target';
import type { CatalogueSource } from '../ports';
import { errorAfterFirstEvent, errorBeforeFirstEvent } from '../failure/public-error';
import type { Bill, SettlePorts } from './settle-generation';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

export interface GeneratePorts extends OpenGenerationPorts, SettlePorts {
  readonly catalogue: CatalogueSource;
  readonly inFlight: InFlight;
}

export type Generate = <Message>(
  request: GenerationRequest,
  call: GenerationCall,
  toMessage: (event: GenerationEvent) => Message,
) => AsyncIterableIterator<Message, undefined>;

/**
 * Runs one generation, no faster than its messages are read.
 *
 * @throws GatewayError before the first event: nothing is owed. After it: the
 *   end is durable by then.
 */
export function createGenerate(ports: GeneratePorts): Generate {
  async function* generate(
    request: GenerationRequest,
    call: GenerationCall,
  ): AsyncGenerator<GenerationPart, void, void> {
    if (call.signal.aborted) throw cancelled();
    const model = modelOf(ports, request.modelId);
    let release: () => void = () => undefined;
    // Once its end is durable a generation has ended, even if its caller never reads the last message.
    const run = new GenerationRun(ports, request, model, call, () => release());
    const entered = ports.inFlight.enter(() => run.stop());
    if (!entered) {
      await run.close();
      throw stopping();
    }
    ports.observer.generationStarted();
    release = once(() => {
      entered();
      ports.observer.generationEnded();
    });
    try {
      const opened = await open(ports, run, request, model);
      if (opened.opened.kind === 'stream') yield* streamed(run, opened.opened);
      else yield* whole(run);
    } finally {
      await run.close();
      release();
    }
  }
  return (request, call, toMessage) => new GenerationEvents(generate(request, call), toMessage);
}

function modelOf(ports: GeneratePorts, modelId: string): Model {
  const model = ports.catalogue.current().models.get(modelId);
  if (!model || model.disabled) throw new GatewayError('model_not_found', { param: 'model' });
  return model;
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
      onDispatch: (target) => {
        run.dispatched(target);
        if (target) providerCalled = true;
      },
      onSent: () => run.sent(),
      onFailedAttempt: (target, failure, durationMs) => run.tried(target, failure.kind, durationMs),
    });
    run.begin(opened);
    return opened;
  } catch (error) {
    // Anything but an UpstreamFailure is a bug of ours.
    if (!(error instanceof UpstreamFailure)) throw error;
    if (error.kind !== 'cancelled') throw errorBeforeFirstEvent(error, providerCalled);
    await run.cancel()?.durable;
    throw run.isStopped ? stopping(providerCalled) : cancelled(providerCalled);
  }
}

async function* streamed(
  run: GenerationRun,
  { reader }: OpenedStream,
): AsyncGenerator<GenerationPart, void, void> {
  const { stream } = reader;
  try {
    yield {
      poll: () => {
        const event = reader.poll();
        if (event !== 'none_yet') run.sawEvent();
        return event;
      },
      listen: (onArrival) => reader.listen(onArrival),
    };
  } catch (error) {
    await endBroken(run, error);
  }
  const closing = stream.closeOpenChoices();
  const ending = run.complete();
  if (closing !== '') yield reader.frames(closing);
  if (run.request.includeUsage) yield reader.frames(stream.usageChunk((await ending.bill).usageJson));
  yield finished(await ending.durable, undefined);
}

async function* whole(run: GenerationRun): AsyncGenerator<GenerationEvent, void, void> {
  const bill = await run.complete().durable;
  yield finished(bill, bill.responseJson());
}

/** Settles a stream that broke, and throws the error for the caller. */
async function endBroken(run: GenerationRun, thrown: unknown): Promise<never> {
  const failure = toUpstreamFailure(thrown);
  if (failure.kind === 'cancelled') {
    await run.cancel()?.durable;
    throw run.isStopped
      ? new GatewayError('internal_error', { internalMessage: 'cancelled by a stop' })
      : cancelled();
  }
  const error = errorAfterFirstEvent(failure);
  await run.fail(error.code).durable;
  throw error;
}

function finished(bill: Bill, responseJson: string | undefined): GenerationEvent {
  const { usage, finishReason, cost } = bill;
  return { kind: 'finished', responseJson, usage, finishReason, cost };
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

function stopping(providerCalled = false): GatewayError {
  return new GatewayError('no_capacity', { internalMessage: 'the router is stopping', providerCalled });
}

/** No client receives it; the code only has to exist in the table. */
function cancelled(providerCalled = false): GatewayError {
  const internalMessage = 'the generation was cancelled';
  return new GatewayError('request_timeout', { internalMessage, providerCalled });
}
