import { once } from 'node:events';
import { WebSocket } from 'undici';
import type { GatewayProcess } from './gateway-process';

/** The environment of a gateway that `liveHeapBytes` can inspect. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/**
 * The size of the live objects on the gateway's JavaScript heap, in bytes. Runs the garbage collector first, so that the
 * figure does not depend on when it last ran.
 */
export async function liveHeapBytes(gateway: GatewayProcess): Promise<number> {
  const [, url] = /Debugger listening on (ws:\S+)/.exec(gateway.output()) ?? [];
  if (url === undefined) throw new Error('the gateway was started without INSPECTABLE');
  const socket = new WebSocket(url);
  try {
    await once(socket, 'open');
    await callInspector(socket, 1, 'HeapProfiler.collectGarbage');
    const { usedSize } = await callInspector(socket, 2, 'Runtime.getHeapUsage');
    if (typeof usedSize !== 'number') throw new Error('the inspector did not return the heap size');
    return usedSize;
  } finally {
    socket.close();
  }
}

function callInspector(socket: WebSocket, id: number, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
      if (message.id === id) resolve(message.result ?? {});
    });
    socket.addEventListener('close', () => reject(new Error('the inspector closed the connection')));
    socket.send(JSON.stringify({ id, method }));
  });
}
