import type { IncomingHttpHeaders } from 'node:http';
import type { Completion } from './completion';
import type { ProviderError } from './errors';
import type { UsageFault } from './faults';
import type { ChatRequest } from './request';

/** A request as it arrived. */
export interface WireRequest {
  /** Without the query. */
  readonly path: string;
  /** The parsed body. */
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly faultHeader: string | undefined;
}

/** The protocol of one family of providers. */
export interface WireFormat {
  /** Whether a POST to this path is a completion in this format. */
  handles(path: string): boolean;
  /** The API key in the headers; undefined when there is none. */
  keyOf(headers: IncomingHttpHeaders): string | undefined;
  /** Throws `ProviderError` for a request that the provider rejects. */
  readRequest(request: WireRequest): ChatRequest;
  /** The headers of a response with this request ID, of an error, and of a completion. */
  headers(
    requestId: string,
    error?: ProviderError,
    completion?: { readonly usage: Completion['usage']; readonly usageFault: UsageFault | undefined },
  ): Readonly<Record<string, string>>;
  /** The body of an error response. */
  renderError(error: ProviderError, requestId: string | undefined): string;
  /** The body of a non-streaming response. */
  renderCompletion(completion: Completion, usageFault: UsageFault | undefined): string;
  renderStream(
    completion: Completion,
    includeUsage: boolean,
    usageFault: UsageFault | undefined,
  ): RenderedStream;
}

/** The events of a stream, as the data of server-sent events. */
export interface RenderedStream {
  /** All but the last event. */
  readonly events: Iterable<string>;
  /** The events that precede the first content. Faults in the middle of a stream do not count them. */
  readonly openingEvents: number;
  /** Whether faults count this event, which is not an opening event. */
  isContent(data: string): boolean;
  /** The last event, which the fault `no-done` omits; undefined: the connection ends after the others. */
  readonly end: string | undefined;
  /** Whether lines always end with CR and LF. */
  readonly crlf?: boolean;
  /** The framing of formats other than server-sent events. */
  readonly binary?: { readonly contentType: string; frame(data: string): Buffer };
  /** The name of an event; undefined: none is sent. */
  nameOf?(data: string): string | undefined;
  /** The events of the fault `malformed-chunk`. */
  readonly malformed: readonly string[];
  /** The event of the fault `error-event`. */
  readonly error: string;
}
