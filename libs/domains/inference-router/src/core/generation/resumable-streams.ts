import { ShortLivedMap, type CancelSignal } from '@gateway/base';
import type { GenerationRequest } from './finished-generation';
import type { Generate } from './generate';
import type { GenerationEvent } from './generation-events';
import type { GenerationCall } from './generation-run';
import { JournalMemory } from './journal-memory';
import { StreamJournal } from './stream-journal';

/** The clients that read one generation at the same time. */
const MAX_FOLLOWERS = 8;

interface RunningStream {
  readonly organizationId: string;
  readonly journal: StreamJournal;
  followers: number;
}

export interface FollowedStream {
  readonly generationId: string;
  readonly organizationId: string;
  readonly afterEvent: number;
}

/**
 * The running streams that their clients can resume. A generation runs at the pace of its provider, not of its readers,
 * until its events exceed the memory of journals.
 */
export class ResumableStreams {
  private readonly running = new ShortLivedMap<string, RunningStream>();

  constructor(
    private readonly generate: Generate,
    private readonly memory = new JournalMemory(),
  ) {}

  /** Runs a generation. Cancelling the call cancels it. */
  run(request: GenerationRequest, call: GenerationCall): AsyncIterableIterator<GenerationEvent, undefined> {
    const journal = new StreamJournal(this.memory);
    const { generationId, organizationId } = request;
    this.running.set(generationId, { organizationId, journal, followers: 0 });
    void this.drain(request, { ...call, journal }, journal).finally(() => this.running.delete(generationId));
    call.signal.addEventListener('abort', () => journal.abandon(), { once: true });
    return journal.play(call.signal);
  }

  /** @returns undefined when the stream does not run here, cannot be resumed, or has too many followers. */
  follow(
    { generationId, organizationId, afterEvent }: FollowedStream,
    signal: CancelSignal,
  ): AsyncIterableIterator<GenerationEvent, undefined> | undefined {
    const stream = this.running.get(generationId);
    if (stream?.organizationId !== organizationId || stream.followers >= MAX_FOLLOWERS) return undefined;
    if (!stream.journal.isResumable) return undefined;
    return followed(stream, afterEvent, signal);
  }

  /** The journal has the frames already. */
  private async drain(
    request: GenerationRequest,
    call: GenerationCall,
    journal: StreamJournal,
  ): Promise<void> {
    try {
      for await (const event of this.generate(request, call, (each) => each)) {
        if (event.kind === 'finished') journal.end({ kind: 'finished', event });
        else await journal.hasSpace(call.signal);
      }
    } catch (error) {
      journal.end({ kind: 'failed', error });
    }
  }
}

async function* followed(
  stream: RunningStream,
  afterEvent: number,
  signal: CancelSignal,
): AsyncGenerator<GenerationEvent, undefined, void> {
  stream.followers += 1;
  try {
    yield* stream.journal.read(afterEvent, signal);
  } finally {
    stream.followers -= 1;
  }
}
