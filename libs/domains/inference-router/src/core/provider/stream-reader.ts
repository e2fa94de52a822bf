import type { Attempt } from './attempt';
import type { Frames } from '../generation/generation-events';
import type { EventSource } from '../ports';
import type { CompletionStream } from '../completion/completion-stream';
import { SseParser } from './sse-parser';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

/** The longest wait for the usage block and `[DONE]` after the last finish_reason. */
const AFTER_FINISH_MS = 5_000;

/** The events of a provider's stream for the caller. Events that arrive together are returned together. */
export class StreamReader implements EventSource<Frames> {
  /** The provider's stream is complete. */
  private ended = false;
  private readonly parser = new SseParser();
  /** The frames of the first event, until they are polled. */
  private first = '';
  private pending: UpstreamFailure | undefined;
  private expectsTail = false;

  constructor(
    private readonly attempt: Attempt,
    readonly stream: CompletionStream,
  ) {}

  /** Waits for the first event. Throws as `poll` does, and when there is none. */
  async begin(): Promise<void> {
    while (!this.stream.begun) {
      if (this.ended) throw new UpstreamFailure('failed', { detail: 'the stream held no completion' });
      const frames = this.read();
      if (frames === undefined) await this.attempt.arrival();
      else this.first += frames;
    }
  }

  /**
   * @throws UpstreamFailure when the stream broke: cut, stalled, unreadable, or
   *   ended with neither a finish_reason nor `[DONE]`. Once every completion has
   *   its finish_reason the stream counts as complete: at most usage is missing.
   */
  poll(): Frames | 'none_yet' | 'end' {
    if (this.first !== '') {
      const { first } = this;
      this.first = '';
      return this.frames(first);
    }
    while (!this.ended) {
      const frames = this.read();
      if (frames === undefined) return 'none_yet';
      if (frames !== '') return this.frames(frames);
    }
    return 'end';
  }

  listen(onArrival: () => void): void {
    this.attempt.listen(onArrival);
  }

  /** Also for frames that do not come from the provider. */
  frames(sse: string): Frames {
    return { kind: 'frames', sse, completionTokens: this.stream.completionTokens };
  }

  /** The frames of the next bytes, possibly empty; undefined when no bytes have arrived. */
  private read(): string | undefined {
    if (this.pending) throw this.pending;
    let frames = '';
    try {
      const bytes = this.attempt.poll();
      if (bytes === 'none_yet') return undefined;
      const events = bytes === 'end' ? this.parser.end() : this.parser.push(bytes);
      for (const event of events) {
        frames += this.stream.push(event);
        if (this.stream.done) break;
      }
      if (this.stream.done) this.ended = true;
      else if (bytes === 'end') this.endOfConnection();
    } catch (error) {
      const failure = toUpstreamFailure(error);
      if (this.stream.complete && failure.kind !== 'cancelled') this.ended = true;
      else if (frames === '') throw failure;
      else this.pending = failure;
    }
    this.attempt.pause();
    this.hurryTail();
    return frames;
  }

  private endOfConnection(): void {
    if (!this.stream.complete) {
      throw new UpstreamFailure('failed', { detail: 'the stream ended without a finish_reason' });
    }
    this.ended = true;
  }

  private hurryTail(): void {
    if (this.expectsTail || this.ended || !this.stream.complete) return;
    this.expectsTail = true;
    this.attempt.expect(
      Math.min(AFTER_FINISH_MS, this.attempt.target.provider.timeouts.idleMs),
      'end of stream',
    );
    this.attempt.pause();
  }
}
