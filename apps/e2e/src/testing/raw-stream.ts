import net from 'node:net';

/** A connection that reads only when told to, as a slow client does. */
export interface RawStream {
  readonly socket: net.Socket;
  /** Reads on until this has come, or the connection ends; gives all that came so far, head included. */
  until(text: string): Promise<string>;
  /** Stops reading. */
  pause(): void;
  close(): void;
}

/** Posts a JSON body over a socket of its own and starts to read the answer. */
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
        const look = () => {
          // It may be cut in two; looking at all of a long stream each time would take too long.
          if (!chunks.slice(-2).join('').includes(wanted)) return;
          socket.off('data', look);
          resolve(chunks.join(''));
        };
        socket.on('data', look).once('error', reject);
        socket.once('close', () => resolve(chunks.join('')));
        socket.resume();
        look();
      }),
    pause: () => socket.pause(),
    close: () => socket.destroy(),
  };
}
