import http from 'node:http';
import { eventDataOf } from '@gateway/test-support';

export interface RawResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; throws if it is not JSON. */
  json<Body = ErrorBody>(): Body;
}

export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param?: string;
    readonly metadata: Record<string, unknown>;
  };
}

export interface RawRequest {
  readonly method?: string;
  /** Absolute path, sent without normalization. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export interface HttpTarget {
  /** With /v1. */
  readonly baseUrl: string;
  /** Called with every complete response. */
  readonly onResponse?: (request: RawRequest, response: RawResponse) => void;
}

/** A target with a default API key. */
export interface KeyedTarget extends HttpTarget {
  readonly shared: { readonly apiKey: string };
}

/** Sends exactly these bytes: no default headers, no redirects, no path clean-up. */
export function send({ baseUrl, onResponse }: HttpTarget, request: RawRequest): Promise<RawResponse> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const outgoing = http.request(
      {
        hostname,
        port,
        path: request.path,
        method: request.method ?? 'GET',
        headers: request.headers as http.OutgoingHttpHeaders,
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const received = {
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: <Body>() => JSON.parse(text) as Body,
          };
          onResponse?.(request, received);
          resolve(received);
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(request.body);
  });
}

export interface ChatOptions {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** POST /v1/chat/completions, by default with the shared key. */
export function chat(
  target: KeyedTarget,
  body: unknown,
  { apiKey = target.shared.apiKey, headers = {} }: ChatOptions = {},
): Promise<RawResponse> {
  return send(target, {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
}

export function get(
  target: KeyedTarget,
  path: string,
  { apiKey = target.shared.apiKey, headers = {} }: ChatOptions = {},
): Promise<RawResponse> {
  return send(target, { path, headers: { authorization: `Bearer ${apiKey}`, ...headers } });
}

/** The data of server-sent events, including "[DONE]", without comments. */
export function eventsOf(response: RawResponse): string[] {
  return eventDataOf(response.text);
}
