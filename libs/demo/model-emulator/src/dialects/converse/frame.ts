import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** The frame of `{"<type>":<payload>}`. A type that ends with "Exception" is an exception. */
export function frameOf(data: string): Buffer {
  const [head = '', type = ''] = /^\{"(\w+)":/.exec(data) ?? [];
  const kind = type.endsWith('Exception') ? 'exception' : 'event';
  const string = (value: string) => ({ type: 'string' as const, value });
  const frame = codec.encode({
    headers: {
      [`:${kind}-type`]: string(type),
      ':content-type': string('application/json'),
      ':message-type': string(kind),
    },
    body: Buffer.from(data.slice(head.length, -1), 'utf8'),
  });
  return Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
}
