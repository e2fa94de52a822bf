import type { NanoUsd, Usage } from '@gateway/base';
import type { EventSource } from '../ports';
import type { FinishedGeneration } from './finished-generation';

/** A piece of a streamed response. */
export interface Frames {
  readonly kind: 'frames';
  /** Whole server-sent events; never a part of one. */
  readonly sse: string;
  /** Of the generation so far. */
  readonly completionTokens: number;
}

/** The events of a generation, in order: frames, then one `finished`. */
export type GenerationEvent =
  | Frames
  | {
      readonly kind: 'finished';
      /** The chat.completion object, unless streamed. */
      readonly responseJson: string | undefined;
      readonly usage: Usage;
      readonly finishReason: FinishedGeneration['finishReason'];
      readonly cost: NanoUsd;
    };

/** A part of a generation: one event, or the source of all events of its stream. */
export type GenerationPart = GenerationEvent | EventSource<GenerationEvent>;

type Result<Message> = IteratorResult<Message, undefined>;

interface Read<Message> {
  readonly resolve: (result: Result<Message> | Promise<Result<Message>>) => void;
}

/**
 * Iterates over the events of a generation, as messages to the caller.
 *
 * A plain generator would keep promises and closures per layer while it waits for
 * the next chunk. With thousands of slow streams those were half of the heap, so
 * here one promise waits per stream while the generator is suspended.
 */
export class GenerationEvents<Message> implements AsyncIterableIterator<Message, undefined> {
  /** The stream that is being read. */
  private live: EventSource<GenerationEvent> | undefined;
  /** The pending read of that stream. */
  private waiting: Read<Message> | undefined;

  constructor(
    /** Resumed at the end of a stream, or with the error that broke it. */
    private readonly parts: AsyncGenerator<GenerationPart, void, void>,
    private readonly toMessage: (event: GenerationEvent) => Message,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Must not be called before the previous call has settled. */
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
      if (this.waiting) throw new Error('the previous read has not settled');
      this.waiting = { resolve };
      this.advance();
    });
  }

  /** Resolves the pending read once an event is available. */
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
