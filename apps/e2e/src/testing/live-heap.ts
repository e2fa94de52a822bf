import { once } from 'node:events';
import { WebSocket } from 'undici';
import type { GatewayProcess } from './gateway-process';

/** The environment of a gateway that `liveHeapBytes` can look into. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/**
 * The bytes on the gateway's JavaScript heap that are still in use, in bytes.
 * The collector runs first, so the figure does not depend on how busy the
 * machine is or when the collector last ran.
 */
export async function liveHeapBytes(gateway: GatewayProcess): Promise<number> {
  const [, url] = /Debugger listening on (ws:\S+)/.exec(gateway.output()) ?? [];
  if (url === undefined) throw new Error('the gateway was not started to be inspected');
  const socket = new WebSocket(url);
  try {
    await once(socket, 'open');
    await ask(socket, 1, 'HeapProfiler.collectGarbage');
    const { usedSize } = await ask(socket, 2, 'Runtime.getHeapUsage');
    if (typeof usedSize !== 'number') throw new Error('the inspector did not tell the size of the heap');
    return usedSize;
  } finally {
    socket.close();
  }
}

function ask(socket: WebSocket, id: number, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
      if (answer.id === id) resolve(answer.result ?? {});
    });
    socket.addEventListener('close', () => reject(new Error('the inspector closed the connection')));
    socket.send(JSON.stringify({ id, method }));
  });
}
