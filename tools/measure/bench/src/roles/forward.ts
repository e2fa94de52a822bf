import { Agent, type Dispatcher } from 'undici';

const agent = new Agent({ pipelining: 1, keepAliveTimeout: 60_000 });

/** Sends a parsed body to the upstream. */
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
 * Forwards a stream and parses each event, as a proxy that counts tokens or rewrites ids must do.
 * All events of one read are written together.
 */
export async function passEvents(
  body: Dispatcher.ResponseData['body'],
  write: (text: string) => boolean,
  drained: () => Promise<void>,
): Promise<void> {
  let rest = '';
  for await (const chunk of body) {
    const text: string = rest + (chunk as Buffer).toString();
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
