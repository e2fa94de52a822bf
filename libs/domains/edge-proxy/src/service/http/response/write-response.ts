import { setImmediate } from 'node:timers/promises';
import type { ResponseHeaders } from '@gateway/public-api';
import type { Exchange } from '../exchange';
import type { ResponseWriter } from './response-writer';

/** Parts of this many characters take about a millisecond to write as JSON. */
const CHARACTERS_PER_TURN = 64 * 1024;

/** Writes a response with status 200. One in parts is put together over several turns of the event loop. */
export function writeResponse(
  writer: ResponseWriter,
  exchange: Exchange,
  body: string | Uint8Array | Generator<string, void, void>,
  headers?: ResponseHeaders,
): void | Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array)
    return writer.json(exchange, 200, body, headers);
  return writeParts(writer, exchange, body, headers);
}

async function writeParts(
  writer: ResponseWriter,
  exchange: Exchange,
  parts: Generator<string, void, void>,
  headers: ResponseHeaders | undefined,
): Promise<void> {
  const written: Buffer[] = [];
  let characters = 0;
  for (const part of parts) {
    written.push(Buffer.from(part));
    characters += part.length;
    if (characters < CHARACTERS_PER_TURN) continue;
    characters = 0;
    await setImmediate();
    if (exchange.isCancelled()) return;
  }
  writer.json(exchange, 200, Buffer.concat(written), headers);
}
