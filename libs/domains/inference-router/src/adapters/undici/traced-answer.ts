import { failureOf, tracing, type Span } from '@gateway/telemetry';
import type { ProviderAnswer } from '../../core/ports';

/** A provider's answer whose span ends with it: read to its end, broken off, or released before. */
export class TracedAnswer implements ProviderAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  #span: Span | undefined;

  constructor(
    private readonly answer: ProviderAnswer,
    span: Span,
  ) {
    this.status = answer.status;
    this.retryAfter = answer.retryAfter;
    this.#span = span;
    span.set({ 'http.response.status_code': answer.status });
  }

  read(): Uint8Array | 'none_yet' | 'end' {
    try {
      const bytes = this.answer.read();
      if (bytes === 'end') this.#end();
      return bytes;
    } catch (error) {
      this.#end(failureOf(error));
      throw error;
    }
  }

  /** Whoever listens goes on in the span in which it began to: a connection's events come in that of the connection. */
  listen(onArrival: () => void): void {
    const tracer = tracing();
    const span = tracer?.current();
    this.answer.listen(tracer && span ? () => tracer.run(span, onArrival) : onArrival);
  }

  release(): void {
    this.#end();
    this.answer.release();
  }

  #end(failure = this.status >= 400 ? String(this.status) : undefined): void {
    this.#span?.end(failure);
    this.#span = undefined;
  }
}
