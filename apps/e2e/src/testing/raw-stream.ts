import net from 'node:net';

/** A connection that reads only on demand, like a slow client. */
export interface RawStream {
  readonly socket: net.Socket;
  /** Reads until this text arrives or the connection ends. Returns everything received so far, including the headers. */
  until(text: string): Promise<string>;
  /** Stops reading. */
  pause(): void;
  close(): void;
}

/** Posts a JSON body over its own socket and starts to read the response. */
export function postRaw(baseUrl: string, apiKey: string, body: unknown): RawStream {
  const { hostname, port } = new URL(baseUrl);
  const payload = JSON.stringify(body);
  const socket = net.connect(Number(port), hostname);
  socket.setEncoding('latin1');
  socket.write(
    [
      'POST /v1/chat/completions HTTP/1.1',
      'host: gateway',
      `authorization: Bearer ${apiKey}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(payload)}`,
      'connection: close',
      '',
      payload,
    ].join('\r\n'),
  );
  const chunks: string[] = [];
  socket.on('data', (chunk: string) => chunks.push(chunk));
  return {
    socket,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const check = () => {
          // The text may span two chunks. Searching the entire stream each time would be too slow.
          if (!chunks.slice(-2).join('').includes(wanted)) return;
          socket.off('data', check);
          resolve(chunks.join(''));
        };
        socket.on('data', check).once('error', reject);
        socket.once('close', () => resolve(chunks.join('')));
        socket.resume();
        check();
      }),
    pause: () => socket.pause(),
    close: () => socket.destroy(),
  };
}
