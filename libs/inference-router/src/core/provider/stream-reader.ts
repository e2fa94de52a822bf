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
  private pending: UpstreamFailure | undefined;
  private expectsTail = false;

  constructor(
    private readonly attempt: Attempt,
    readonly stream: CompletionStream,
  ) {}

  /**
   * The events for the caller that the next bytes hold; may be empty.
   *
   * @throws UpstreamFailure when the stream broke off: cut, stalled, unreadable,
   *   or ended by neither a finish_reason nor `[DONE]`. Events before the break
   *   are returned first. Once every completion has its finish_reason nothing
   *   can break any more: what is missing then is usage at most.
   */
  async next(): Promise<string> {
    if (this.pending) throw this.pending;
    let frames = '';
    try {
      const bytes = await this.attempt.read();
      const events = bytes === undefined ? this.parser.end() : this.parser.push(bytes);
      for (const event of events) {
        frames += this.stream.push(event);
        if (this.stream.done) break;
      }
      if (this.stream.done) this.ended = true;
      else if (bytes === undefined) this.endOfConnection();
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
