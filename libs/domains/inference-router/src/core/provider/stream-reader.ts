import type { Attempt } from './attempt';
import type { Frames } from '../generation/generation-events';
import type { EventSource } from '../ports';
import type { CompletionStream } from '../completion/completion-stream';
import type { EventParser } from '../framing/event-parser';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

/** The timeout for the usage block and `[DONE]` after the last finish_reason, in milliseconds. */
const AFTER_FINISH_MS = 5_000;

/** Reads a provider's stream as frames for the client. Events that arrive together are returned together. */
export class StreamReader implements EventSource<Frames> {
  /** The provider's stream is complete. */
  private ended = false;
  /** The frames of the first event, until they are polled. */
  private first = '';
  private pendingFailure: UpstreamFailure | undefined;
  private limitsTail = false;

  constructor(
    private readonly attempt: Attempt,
    readonly stream: CompletionStream,
    private readonly parser: EventParser,
  ) {}

  /** Waits for the first event. Throws like `poll`, and when the stream has no event. */
  async waitForFirstEvent(): Promise<void> {
    while (!this.stream.started) {
      if (this.ended) throw new UpstreamFailure('failed', { detail: 'the stream has no completion' });
      const frames = this.read();
      if (frames === undefined) await this.attempt.arrival();
      else this.first += frames;
    }
  }

  /**
   * @throws UpstreamFailure when the stream was cut, stalled, is unreadable, or ended
   *   with neither a finish_reason nor `[DONE]`. Once every completion has its
   *   finish_reason the stream counts as complete, even if usage is missing.
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

  /** Wraps events; also those that the router adds. */
  frames(sse: string): Frames {
    const { completionTokens, finishedChoices } = this.stream;
    return { kind: 'frames', sse, completionTokens, finishedChoices };
  }

  /** The frames of the next bytes, possibly empty; undefined when no bytes have arrived. */
  private read(): string | undefined {
    if (this.pendingFailure) throw this.pendingFailure;
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
      // The provider may send nothing else for a long time.
      else if (this.parser.failure) throw this.parser.failure;
      else if (bytes === 'end') this.onConnectionEnd();
    } catch (error) {
      const failure = toUpstreamFailure(error);
      if (this.stream.complete && failure.kind !== 'cancelled') this.ended = true;
      else if (frames === '') throw failure;
      else this.pendingFailure = failure;
    }
    this.attempt.pause();
    this.limitTail();
    return frames;
  }

  private onConnectionEnd(): void {
    if (!this.stream.complete) {
      throw new UpstreamFailure('failed', { detail: 'the stream ended without a finish_reason' });
    }
    this.ended = true;
  }

  private limitTail(): void {
    if (this.limitsTail || this.ended || !this.stream.complete) return;
    this.limitsTail = true;
    this.attempt.expect(
      Math.min(AFTER_FINISH_MS, this.attempt.target.provider.timeouts.idleMs),
      'end of stream',
    );
    this.attempt.pause();
  }
}
