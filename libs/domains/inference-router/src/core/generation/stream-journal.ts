import { Condition, type CancelSignal } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import type { Frames, GenerationEvent } from './generation-events';
import type { JournalMemory } from './journal-memory';

const END_OF_EVENT = '\n\n';

/** What the provider may be ahead of the client that started the stream, once the stream cannot be resumed. */
const UNREAD_CHARACTERS_MAX = 256 * 1024;

/** How the stream ended, after its frames. */
type Ending =
  | { readonly kind: 'finished'; readonly event: GenerationEvent }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * The events of one stream from its start, so that a client that lost its
 * connection can continue after the last one it has. Readers have their own pace:
 * none slows the generation or another reader.
 *
 * A stream that exceeds the memory of journals cannot be resumed from then on. It keeps only what the client that started
 * it has not read, and the generation proceeds at that client's pace.
 */
export class StreamJournal {
  /** From event `dropped` on. */
  private readonly frames: Frames[] = [];
  private dropped = 0;
  /** The frames that the client which started the stream has read. */
  private played = 0;
  private characters = 0;
  private resumable = true;
  private readonly changes = new Condition();
  private ending: Ending | undefined;
  /** The client that started the stream, and its followers. */
  private readers = 1;
  private isPlayed = false;

  constructor(private readonly memory: JournalMemory) {}

  /** All events so far; undefined when they were not kept. */
  get sse(): string | undefined {
    return this.resumable ? this.frames.map(({ sse }) => sse).join('') : undefined;
  }

  get isResumable(): boolean {
    return this.resumable;
  }

  append(frames: Frames): void {
    this.frames.push(frames);
    this.count(frames.sse.length);
    if (this.resumable && !this.memory.allows(this.characters)) this.stopResuming();
    this.changes.notifyAll();
  }

  /** Resolves when the next event may be appended. */
  async hasSpace(signal: CancelSignal): Promise<void> {
    while (!this.resumable && this.characters > UNREAD_CHARACTERS_MAX && !signal.aborted)
      await this.changes.wait(signal);
  }

  /** No event follows. */
  end(ending: Ending): void {
    this.ending ??= ending;
    if (this.readers === 0) this.clear();
    this.changes.notifyAll();
  }

  /**
   * Reads to the end of the stream, for the client that started it. Call it once.
   *
   * @throws the error that ended the stream.
   */
  async *play(signal: CancelSignal): AsyncGenerator<GenerationEvent, undefined, void> {
    if (this.isPlayed) return;
    this.isPlayed = true;
    try {
      while (!signal.aborted) {
        const frames = this.frames[this.played - this.dropped];
        if (frames === undefined) {
          const event = await this.nextOrEnd(signal);
          if (event) return void (yield event);
          continue;
        }
        this.played += 1;
        if (!this.resumable) this.drop();
        yield frames;
      }
    } finally {
      this.leave();
    }
  }

  /** The client that started the stream left. A generator that never started does not run its `finally`. */
  abandon(): void {
    if (this.isPlayed) return;
    this.isPlayed = true;
    this.leave();
  }

  /**
   * Reads to the end of the stream, for another client.
   *
   * @param afterEvent the number of the last event that the reader has; the first one is 1.
   * @throws the error that ended the stream, or `no_capacity` once the stream cannot be resumed.
   */
  async *read(afterEvent: number, signal: CancelSignal): AsyncGenerator<GenerationEvent, undefined, void> {
    let known = afterEvent;
    this.readers += 1;
    try {
      for (let next = 0; !signal.aborted;) {
        if (!this.resumable)
          throw new GatewayError('no_capacity', { internalMessage: 'the stream can no longer be resumed' });
        const frames = this.frames[next];
        if (frames === undefined) {
          const event = await this.nextOrEnd(signal);
          if (event) return void (yield event);
          continue;
        }
        next += 1;
        const sse = known === 0 ? frames.sse : withoutFirst(frames.sse, known);
        if (known > 0) known = Math.max(0, known - countEvents(frames.sse));
        if (sse !== '') yield { ...frames, sse };
      }
    } finally {
      this.leave();
    }
  }

  /** @returns the last event of the stream, or undefined after a change. */
  private async nextOrEnd(signal: CancelSignal): Promise<GenerationEvent | undefined> {
    if (this.ending?.kind === 'failed') throw this.ending.error;
    if (this.ending) return this.ending.event;
    await this.changes.wait(signal);
    return undefined;
  }

  private stopResuming(): void {
    this.resumable = false;
    while (this.dropped < this.played) this.drop();
  }

  private drop(): void {
    this.count(-(this.frames.shift()?.sse.length ?? 0));
    this.dropped += 1;
    this.changes.notifyAll();
  }

  private leave(): void {
    this.readers -= 1;
    if (this.readers === 0 && this.ending) this.clear();
  }

  private clear(): void {
    this.count(-this.characters);
    this.frames.length = 0;
  }

  private count(characters: number): void {
    this.characters += characters;
    this.memory.used += characters;
  }
}

/** The events of a text after the first `count`; empty when it has no more. */
function withoutFirst(sse: string, count: number): string {
  let start = 0;
  for (let skipped = 0; skipped < count; skipped += 1) {
    const end = sse.indexOf(END_OF_EVENT, start);
    if (end === -1) return '';
    start = end + END_OF_EVENT.length;
  }
  return sse.slice(start);
}

function countEvents(sse: string): number {
  return sse.split(END_OF_EVENT).length - 1;
}
