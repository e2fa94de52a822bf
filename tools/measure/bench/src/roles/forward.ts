import { Agent, type Dispatcher } from 'undici';

const agent = new Agent({ pipelining: 1, keepAliveTimeout: 60_000 });

/** Sends a parsed body on to the upstream. */
export function forward(upstream: string, body: unknown): Promise<Dispatcher.ResponseData> {
  return agent.request({
    origin: upstream,
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/**
 * Passes a stream on, parsing each event as any proxy must that counts tokens or rewrites ids.
 * What one read brought is written at once.
 */
export async function passEvents(
  body: Dispatcher.ResponseData['body'],
  write: (text: string) => boolean,
  drained: () => Promise<void>,
): Promise<void> {
  let rest = '';
  for await (const piece of body) {
    const text: string = rest + (piece as Buffer).toString();
    const end = text.lastIndexOf('\n\n') + 2;
    if (end < 2) {
      rest = text;
      continue;
    }
    rest = text.slice(end);
    const events = text.slice(0, end);
    for (const event of events.split('\n\n')) {
      if (event.startsWith('data: {')) JSON.parse(event.slice(6));
    }
    if (!write(events)) await drained();
  }
}
