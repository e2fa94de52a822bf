import type { Attempt } from './attempt';
import type { CompletionStream } from '../completion/completion-stream';
import { SseParser } from './sse-parser';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

/** How long after the last finish_reason the usage block and `[DONE]` are waited for, in milliseconds. */
export const AFTER_FINISH_MS = 5_000;

/**
 * Reads a provider's stream, one arrival of bytes at a time. What arrived
 * together leaves together.
 */
export class StreamReader {
  /** The provider has nothing more to say, and said it properly. */
  ended = false;

  private readonly parser = new SseParser();
  /** Of the first event, until they are asked for. */
  private first = '';
  private pending: UpstreamFailure | undefined;
  private expectsTail = false;

  constructor(
    private readonly attempt: Attempt,
    readonly stream: CompletionStream,
  ) {}

  /** Waits for the first event, and keeps it. Throws as `poll` does, and when there is none. */
  async begin(): Promise<void> {
    while (!this.stream.begun) {
      if (this.ended) throw new UpstreamFailure('failed', { detail: 'the stream held no completion' });
      const frames = this.read();
      if (frames === undefined) await this.attempt.arrival();
      else this.first += frames;
    }
  }

  /**
   * The events for the caller that have arrived; undefined when there are none
   * yet, or there will be none: then it has `ended`.
   *
   * @throws UpstreamFailure when the stream broke off: cut, stalled, unreadable,
   *   or ended by neither a finish_reason nor `[DONE]`. Events before the break
   *   are returned first. Once every completion has its finish_reason nothing
   *   can break any more: what is missing then is usage at most.
   */
  poll(): string | undefined {
    if (this.first !== '') {
      const { first } = this;
      this.first = '';
      return first;
    }
    while (!this.ended) {
      const frames = this.read();
      if (frames !== '') return frames;
    }
    return undefined;
  }

  listen(onArrival: () => void): void {
    this.attempt.listen(onArrival);
  }

  /** What the next bytes hold, which may be nothing; undefined when there are none yet. */
  private read(): string | undefined {
    if (this.pending) throw this.pending;
    let frames = '';
    try {
      const bytes = this.attempt.read();
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
