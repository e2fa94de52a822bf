import { Condition, type CancelSignal } from '@gateway/base';
import type { Frames, GenerationEvent } from './generation-events';

const END_OF_EVENT = '\n\n';

/** How the stream ended, after its frames. */
type Ending =
  | { readonly kind: 'finished'; readonly event: GenerationEvent }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * The events of one stream from its start, so that a client that lost its
 * connection can continue after the last one it has. Readers have their own pace:
 * none slows the generation or another reader.
 */
export class StreamJournal {
  private readonly frames: Frames[] = [];
  private readonly changes = new Condition();
  private ending: Ending | undefined;
  private length = 0;

  /** All events so far. */
  get sse(): string {
    return this.frames.map(({ sse }) => sse).join('');
  }

  /** The characters of all events so far. */
  get characters(): number {
    return this.length;
  }

  append(frames: Frames): void {
    this.frames.push(frames);
    this.length += frames.sse.length;
    this.changes.notifyAll();
  }

  /** No event follows. */
  end(ending: Ending): void {
    this.ending ??= ending;
    this.changes.notifyAll();
  }

  /**
   * Reads to the end of the stream.
   *
   * @param afterEvent the number of the last event that the reader has; the first one is 1.
   * @throws the error that ended the stream.
   */
  async *read(afterEvent: number, signal: CancelSignal): AsyncGenerator<GenerationEvent, undefined, void> {
    let known = afterEvent;
    for (let next = 0; !signal.aborted;) {
      const frames = this.frames[next];
      if (frames !== undefined) {
        next += 1;
        const sse = known === 0 ? frames.sse : withoutFirst(frames.sse, known);
        if (known > 0) known = Math.max(0, known - countEvents(frames.sse));
        if (sse !== '') yield { ...frames, sse };
      } else if (this.ending?.kind === 'finished') {
        yield this.ending.event;
        return;
      } else if (this.ending) {
        throw this.ending.error;
      } else {
        await this.changes.wait(signal);
      }
    }
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
