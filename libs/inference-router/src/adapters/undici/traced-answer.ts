import { failureOf, type Span } from '@gateway/telemetry';
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

  async read(): Promise<Uint8Array | undefined> {
    try {
      const bytes = await this.answer.read();
      if (bytes === undefined) this.#end();
      return bytes;
    } catch (error) {
      this.#end(failureOf(error));
      throw error;
    }
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
