import { GatewayError } from '@gateway/errors';
import { checkedMetadata, NO_METADATA } from '../call-metadata';
import type { CallMetadata } from '../definition';
import { MalformedFrame } from './frame';
import { MAX_METADATA_BYTES } from './local-limits';

/** Method (16 bits), milliseconds that are left (32), length of the metadata (16); metadata and payload follow. */
const FIXED_BYTES = 8;
const NO_DEADLINE = 0xffff_ffff;

export interface RequestFrame {
  /** Its place in the server's table. */
  readonly method: number;
  /** What is left of the call's time. */
  readonly timeoutMs: number | undefined;
  readonly metadata: CallMetadata;
  readonly payload: Buffer;
}

/** Most calls have none, and the head is written out at once. */
const bare = Buffer.alloc(FIXED_BYTES);

/**
 * What of a request precedes its payload, valid until the next call of this.
 *
 * @param metadata as metadataLines gives it.
 */
export function requestHead(method: number, timeoutMs: number | undefined, metadata: string): Buffer {
  const head = metadata === '' ? bare : Buffer.allocUnsafe(FIXED_BYTES + metadata.length);
  head.writeUInt16LE(method, 0);
  head.writeUInt32LE(timeoutMs === undefined ? NO_DEADLINE : wholeMs(timeoutMs), 2);
  head.writeUInt16LE(metadata.length, 6);
  if (metadata !== '') head.write(metadata, FIXED_BYTES, 'latin1');
  return head;
}

function wholeMs(ms: number): number {
  return Math.min(Math.max(1, Math.ceil(ms)), NO_DEADLINE - 1);
}

/** @throws MalformedFrame */
export function readRequest(body: Buffer): RequestFrame {
  if (body.length < FIXED_BYTES) throw new MalformedFrame('a request without its head');
  const timeoutMs = body.readUInt32LE(2);
  const metadataEnd = FIXED_BYTES + body.readUInt16LE(6);
  if (body.length < metadataEnd) throw new MalformedFrame('a request with metadata beyond its end');
  return {
    method: body.readUInt16LE(0),
    timeoutMs: timeoutMs === NO_DEADLINE ? undefined : timeoutMs,
    metadata:
      metadataEnd === FIXED_BYTES
        ? NO_METADATA
        : readMetadata(body.toString('latin1', FIXED_BYTES, metadataEnd)),
    payload: body.subarray(metadataEnd),
  };
}

/** `name:value` in lines, which neither names nor values can hold; throws what cannot travel beside a call. */
export function metadataLines(metadata: CallMetadata | undefined): string {
  if (metadata === undefined) return '';
  const checked = checkedMetadata(metadata);
  const lines = Object.keys(checked).map((name) => `${name}:${checked[name] ?? ''}`);
  const text = lines.join('\n');
  if (text.length <= MAX_METADATA_BYTES) return text;
  throw new GatewayError('internal_error', {
    internalMessage: `the metadata of a call has ${text.length} bytes, and may have ${MAX_METADATA_BYTES}`,
  });
}

function readMetadata(lines: string): CallMetadata {
  const metadata: Record<string, string> = {};
  for (const line of lines.split('\n')) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new MalformedFrame('metadata without a name');
    metadata[line.slice(0, colon)] = line.slice(colon + 1);
  }
  try {
    return checkedMetadata(metadata);
  } catch (cause) {
    throw new MalformedFrame('metadata that no caller can have sent', { cause });
  }
}
