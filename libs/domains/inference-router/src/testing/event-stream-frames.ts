import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

/** A frame of an AWS event stream. */
export function frameOf(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }]);
  return Buffer.from(
    codec.encode({ headers: Object.fromEntries(typed) as never, body: Buffer.from(payload, 'utf8') }),
  );
}

export function eventFrame(type: string, payload: object | string): Buffer {
  return frameOf(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    typeof payload === 'string' ? payload : JSON.stringify(payload),
  );
}

export function exceptionFrame(type: string, payload: object): Buffer {
  return frameOf(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify(payload),
  );
}
