import assert from 'node:assert/strict';
import http from 'node:http';
import { eventDataOf } from '@gateway/test-support';
import { publicFormats, type PublicFormat } from './format';
import type { RawResponse } from './raw-response';

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
  /** The format of inference requests; chat completions by default. */
  readonly format?: PublicFormat;
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
          try {
            onResponse?.(request, received);
            resolve(received);
          } catch (error) {
            reject(error as Error);
          }
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

/** POST of a chat completion in the target's format, by default with the shared key. */
export async function chat(
  target: KeyedTarget,
  body: unknown,
  { apiKey = target.shared.apiKey, headers = {} }: ChatOptions = {},
): Promise<RawResponse> {
  const { format = publicFormats.chat } = target;
  const response = await send(target, {
    method: 'POST',
    path: format.path,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body:
      typeof body === 'string' || Buffer.isBuffer(body)
        ? body
        : JSON.stringify(format.requestOf(body as Record<string, unknown>)),
  });
  return inFormat(format, response);
}

/** The response, with JSON of the chat completion's members. */
export function inFormat(format: PublicFormat, response: RawResponse): RawResponse {
  return {
    ...response,
    json<Body>() {
      const { error, ...rest } = response.json<Record<string, unknown>>();
      if (error === undefined || error === null)
        return format.completionOf(
          { ...rest, ...(error === null ? { error } : {}) },
          response.headers,
        ) as Body;
      assert.deepEqual(rest, format.envelope, 'the envelope contains only what its format has');
      return { error } as Body;
    },
  };
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
