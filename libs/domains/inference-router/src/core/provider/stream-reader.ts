import type { Attempt } from './attempt';
import type { Frames } from '../generation/generation-events';
import type { OutputGate } from '../generation/output-gate';
import type { EventSource } from '../ports';
import type { CompletionStream, PendingEvent } from '../completion/completion-stream';
import type { EventParser } from '../framing/event-parser';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';

/** The timeout for the usage block and `[DONE]` after the last finish_reason, in milliseconds. */
const AFTER_FINISH_MS = 5_000;

/** An event whose output the hold does not cover, or not yet. */
interface HeldBack {
  readonly event: PendingEvent;
  /** The events that arrived with it. */
  readonly rest: readonly string[];
  readonly isLast: boolean;
}

/** Reads a provider's stream as frames for the client. Events that arrive together are returned together. */
export class StreamReader implements EventSource<Frames> {
  /** The provider's stream is complete. */
  private ended = false;
  /** The frames of the first event, until they are polled. */
  private first = '';
  private pendingFailure: UpstreamFailure | undefined;
  private limitsTail = false;
  private heldBack: HeldBack | undefined;
  private cutShort = false;

  constructor(
    private readonly attempt: Attempt,
    readonly stream: CompletionStream,
    private readonly parser: EventParser,
    /** The gate of a stream whose hold covers a part of its output. */
    private readonly gate?: OutputGate,
  ) {}

  /** The stream ended because its hold could not be extended. */
  get isCutShort(): boolean {
    return this.cutShort;
  }

  /** Waits for the first event. Throws like `poll`, and when the stream has no event. */
  async waitForFirstEvent(): Promise<void> {
    while (!this.stream.started && !this.heldBack) {
      if (this.ended) throw new UpstreamFailure('failed', { detail: 'the stream has no completion' });
      const frames = this.read();
      if (frames === undefined) await this.attempt.arrival();
      else this.first += frames;
    }
  }

  /**
   * @throws GatewayError when its hold cannot be extended for another reason than a refusal.
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
    if (!this.gate) return;
    this.gate.listen(onArrival);
    // The response may be complete, so that its connection reports no abort.
    this.attempt.signal.addEventListener('abort', onArrival, { once: true });
  }

  /** Wraps events; also those that the router adds. */
  frames(sse: string): Frames {
    const { completionTokens, finishedChoices } = this.stream;
    return { kind: 'frames', sse, completionTokens, finishedChoices };
  }

  /** The frames of the next bytes, possibly empty; undefined when no bytes have arrived. */
  private read(): string | undefined {
    if (this.pendingFailure) throw this.pendingFailure;
    const { heldBack } = this;
    if (heldBack && !this.isReleased()) return this.ended ? '' : undefined;
    let frames = '';
    try {
      let events: readonly string[];
      let isLast: boolean;
      if (heldBack) {
        ({ rest: events, isLast } = heldBack);
        this.heldBack = undefined;
        frames = heldBack.event.apply();
      } else {
        const bytes = this.attempt.poll();
        if (bytes === 'none_yet') return undefined;
        isLast = bytes === 'end';
        events = isLast ? this.parser.end() : this.parser.push(bytes as Uint8Array);
      }
      for (let index = 0; index < events.length && !this.heldBack && !this.stream.done; index += 1) {
        frames += this.gate
          ? this.pushGated(this.gate, events, index, isLast)
          : this.stream.push(events[index] as string);
      }
      if (this.stream.done) this.ended = true;
      // The provider may send nothing else for a long time.
      else if (this.parser.failure && !this.heldBack) throw this.parser.failure;
      else if (isLast && !this.heldBack) this.onConnectionEnd();
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

  /** Adds an event to the stream, unless the hold does not cover it yet: until then, an end of the generation owes only what was sent. */
  private pushGated(gate: OutputGate, events: readonly string[], index: number, isLast: boolean): string {
    const event = this.stream.decode(events[index] as string);
    if (event.text === '' || gate.admits(event.text)) return event.apply();
    this.heldBack = { event, rest: events.slice(index + 1), isLast };
    return '';
  }

  /** Whether the event that was held back may be sent. */
  private isReleased(): boolean {
    const decision = this.gate?.decision();
    if (decision === 'wait') this.attempt.throwIfFailed();
    if (decision === 'stop') {
      this.heldBack = undefined;
      this.cutShort = true;
      this.ended = true;
    }
    return decision === 'send';
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
