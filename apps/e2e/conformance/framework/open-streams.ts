import { publicFormats } from './format';
import { inFormat, type ChatOptions, type KeyedTarget } from './http';
import type { RawResponse } from './raw-response';
import { directive } from './requests';

/** Sends its first token immediately and one per second afterwards, so that it runs until the client disconnects. */
export const LONG_STREAM = { stream: true, max_tokens: 100, ...directive('[[tokens:100]] [[rate:1]]') };

export interface OpenStreams {
  /** Status, headers and error body of each request. */
  readonly responses: readonly RawResponse[];
  /** Disconnects the clients. */
  cancel(): Promise<void>;
}

/** Sends one request with each of the options at the same time, and waits until each has a status. */
export async function openStreams(
  { baseUrl, shared, format = publicFormats.chat }: KeyedTarget,
  request: Record<string, unknown>,
  each: readonly ChatOptions[],
): Promise<OpenStreams> {
  const clients = new AbortController();
  // Keeps references, because garbage collection of a response cancels its stream.
  const streams: Response[] = [];
  const cancel = async () => {
    clients.abort();
    await Promise.allSettled(streams.map((response) => response.body?.cancel()));
  };
  const send = async ({ apiKey = shared.apiKey, headers = {} }: ChatOptions): Promise<RawResponse> => {
    const response = await fetch(new URL(format.path, baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(format.requestOf(request)),
      signal: clients.signal,
    });
    streams.push(response);
    const text = response.ok ? '' : await response.text();
    return inFormat(format, {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      json: <Body>() => JSON.parse(text) as Body,
    });
  };
  try {
    return { responses: await Promise.all(each.map(send)), cancel };
  } catch (error) {
    await cancel();
    throw error;
  }
}
