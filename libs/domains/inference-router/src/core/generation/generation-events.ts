import type { NanoUsd, Usage } from '@gateway/base';
import type { FinishedGeneration } from './finished-generation';

/** What a generation sends to its caller, in order: frames, then its end. */
export type GenerationEvent =
  | {
      readonly kind: 'frames';
      /** Whole server-sent events; never a part of one. */
      readonly sse: string;
      readonly completionTokens: number;
    }
  | {
      readonly kind: 'finished';
      /** The chat.completion object, unless streamed. */
      readonly responseJson: string | undefined;
      readonly usage: Usage;
      readonly finishReason: FinishedGeneration['finishReason'];
      readonly cost: NanoUsd;
    };

/** A stream under way. */
export interface LiveEvents {
  /**
   * The next event; 'none_yet' until the provider sends more, 'end' after the last.
   *
   * @throws UpstreamFailure
   */
  poll(): GenerationEvent | 'none_yet' | 'end';
  /** Who is told, from now on, that `poll` may have something new after it had none yet. */
  listen(onArrival: () => void): void;
}

/** What a generation consists of: events, and in place of all those of a stream under way, that stream. */
export type GenerationPart = GenerationEvent | LiveEvents;

type Result<Message> = IteratorResult<Message, undefined>;

interface Read<Message> {
  readonly resolve: (result: Result<Message> | Promise<Result<Message>>) => void;
}

/**
 * The events of a generation's parts, as messages to its caller.
 *
 * A generator alone would do, but each layer of generators that waits for a provider's next chunk
 * keeps promises and closures for it. A slow stream's outlive the young generation of the heap by
 * the time the chunk is there, and are left to the next full collection: with thousands of streams
 * that was half of the memory. Here a single promise waits for a chunk, and the generator sleeps.
 */
export class GenerationEvents<Message> implements AsyncIterableIterator<Message, undefined> {
  private live: LiveEvents | undefined;
  /** The read that waits for the stream under way. */
  private waiting: Read<Message> | undefined;

  constructor(
    /** Is resumed with what ended a stream, as if it had read that itself. */
    private readonly parts: AsyncGenerator<GenerationPart, void, void>,
    private readonly toMessage: (event: GenerationEvent) => Message,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Only after the last one was answered. */
  next(): Promise<Result<Message>> {
    return this.live ? this.nextLive() : this.nextPart(this.parts.next());
  }

  return(): Promise<Result<Message>> {
    this.live = undefined;
    const left = this.nextPart(this.parts.return());
    this.waiting?.resolve(left);
    this.waiting = undefined;
    return left;
  }

  private nextLive(): Promise<Result<Message>> {
    return new Promise((resolve) => {
      if (this.waiting) throw new Error('an event is asked for before the last one has come');
      this.waiting = { resolve };
      this.advance();
    });
  }

  /** Answers the read that waits, if there is something to answer it with. */
  private readonly advance = (): void => {
    const { waiting, live } = this;
    if (!waiting || !live) return;
    try {
      const event = live.poll();
      if (event === 'none_yet') return;
      this.waiting = undefined;
      if (event !== 'end') return waiting.resolve({ done: false, value: this.toMessage(event) });
      this.live = undefined;
      waiting.resolve(this.nextPart(this.parts.next()));
    } catch (error) {
      this.waiting = undefined;
      this.live = undefined;
      waiting.resolve(this.nextPart(this.parts.throw(error)));
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
