import type { NanoUsd, Usage } from '@gateway/base';
import type { EventSource } from '../ports';
import type { FinishedGeneration } from './finished-generation';

/** Chunks of a streaming response. */
export interface Frames {
  readonly kind: 'frames';
  /** One or more complete server-sent events. */
  readonly sse: string;
  /** The tokens generated so far. */
  readonly completionTokens: number;
  /** The indexes of the completions that have a finish_reason, when several were requested. */
  readonly finishedChoices: readonly number[];
}

/** The events of a generation, in order: frames, then one `finished`. */
export type GenerationEvent =
  | Frames
  | {
      readonly kind: 'finished';
      /** The chat.completion object, or the list of embeddings; undefined when streaming. */
      readonly responseJson: string | undefined;
      readonly usage: Usage;
      readonly finishReason: FinishedGeneration['finishReason'];
      readonly costNanoUsd: NanoUsd;
      /** The provider reports a prompt far above the estimate. */
      readonly exceedsEstimate: boolean;
    };

/** A part of a generation: one event, or the source of all events of its stream. */
export type GenerationPart = GenerationEvent | EventSource<GenerationEvent>;

type Result<Message> = IteratorResult<Message, undefined>;

interface Read<Message> {
  readonly resolve: (result: Result<Message> | Promise<Result<Message>>) => void;
}

/**
 * Iterates over the events of a generation, as messages for the caller.
 *
 * A plain generator would hold promises and closures per layer while it waits for
 * the next chunk. With thousands of slow streams these were half of the heap. Here
 * each stream has one pending promise, and the generator is suspended.
 */
export class GenerationEvents<Message> implements AsyncIterableIterator<Message, undefined> {
  /** The current stream. */
  private live: EventSource<GenerationEvent> | undefined;
  /** The pending read of that stream. */
  private pendingRead: Read<Message> | undefined;

  constructor(
    /** Resumed at the end of a stream, or with its error. */
    private readonly parts: AsyncGenerator<GenerationPart, void, void>,
    private readonly toMessage: (event: GenerationEvent) => Message,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Must not be called before the previous call has resolved. */
  next(): Promise<Result<Message>> {
    return this.live ? this.nextLive() : this.nextPart(this.parts.next());
  }

  return(): Promise<Result<Message>> {
    this.live = undefined;
    const last = this.nextPart(this.parts.return());
    this.pendingRead?.resolve(last);
    this.pendingRead = undefined;
    return last;
  }

  private nextLive(): Promise<Result<Message>> {
    return new Promise((resolve) => {
      if (this.pendingRead) throw new Error('the previous read is still pending');
      this.pendingRead = { resolve };
      this.advance();
    });
  }

  /** Resolves the pending read once an event is available. */
  private readonly advance = (): void => {
    const { pendingRead, live } = this;
    if (!pendingRead || !live) return;
    try {
      const event = live.poll();
      if (event === 'none_yet') return;
      this.pendingRead = undefined;
      if (event !== 'end') return pendingRead.resolve({ done: false, value: this.toMessage(event) });
      this.live = undefined;
      pendingRead.resolve(this.nextPart(this.parts.next()));
    } catch (error) {
      this.pendingRead = undefined;
      this.live = undefined;
      pendingRead.resolve(this.nextPart(this.parts.throw(error)));
    }
  };

  private async nextPart(part: Promise<IteratorResult<GenerationPart, void>>): Promise<Result<Message>> {
    const { done, value } = await part;
    if (done || !value) return { done: true, value: undefined };
    if ('kind' in value) return { done: false, value: this.toMessage(value) };
    this.live = value;
    value.listen(this.advance);
    return this.nextLive();
  }
}
