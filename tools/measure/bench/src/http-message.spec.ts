import { HttpMessageReader, type HttpMessage } from './http-message';

const WIRE =
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' +
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\n' +
  'HTTP/1.1 204 No Content\r\n\r\n' +
  'POST /v1 HTTP/1.1\r\nhost: x\r\ncontent-length:2\r\n\r\n{}';

function readIn(parts: readonly string[]): { messages: HttpMessage[]; firstBodies: number } {
  const messages: HttpMessage[] = [];
  let firstBodies = 0;
  const reader = new HttpMessageReader(
    (message) => messages.push(message),
    () => firstBodies++,
  );
  for (const part of parts) reader.push(part);
  return { messages, firstBodies };
}

describe('HttpMessageReader', () => {
  it('reads the same messages however the bytes are split', () => {
    const unsplit = readIn([WIRE]);
    expect(unsplit.messages.map(({ startLine, body }) => [startLine, body])).toEqual([
      ['HTTP/1.1 200 OK', 'hello'],
      ['HTTP/1.1 200 OK', 'abc0123456789'],
      ['HTTP/1.1 204 No Content', ''],
      ['POST /v1 HTTP/1.1', '{}'],
    ]);
    for (let size = 1; size < 40; size++) {
      const parts = WIRE.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(readIn(parts)).toEqual(unsplit);
    }
  });

  it('reports the first byte of a chunked body once', () => {
    expect(readIn([WIRE]).firstBodies).toBe(1);
  });

  it('rejects a chunk without a size', () => {
    expect(() => readIn(['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'])).toThrow('size');
  });
});
