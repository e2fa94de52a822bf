import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { MessageCodec } from './definition';

/** V8 stores arrays up to this size on its heap, and moves them off the heap when their buffer is accessed. */
const ON_HEAP_BYTES = 64;
/** A writer with a larger buffer is not reused. */
const MAX_REUSED_BYTES = 256 * 1024;

let shared = new BinaryWriter();

/** Encodes a message. */
export function encodeMessage<Message>(
  codec: Pick<MessageCodec<Message>, 'encode'>,
  message: Message,
): Uint8Array {
  return encodeWith((writer) => codec.encode(message, writer));
}

/**
 * Returns the bytes that `write` produces. All messages share one writer, since
 * allocating a buffer per message costs more than encoding. Encoding is
 * synchronous, so calls never overlap.
 *
 * @param write - returns the given writer.
 */
export function encodeWith(write: (writer: BinaryWriter) => { finish(): Uint8Array }): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = write(shared).finish();
  } catch (error) {
    // An invalid value left the writer with a partial message.
    shared = new BinaryWriter();
    throw error;
  }
  if (bytes.length > MAX_REUSED_BYTES) shared = new BinaryWriter();
  return bytes.length <= ON_HEAP_BYTES ? toPooled(bytes) : bytes;
}

function toPooled(bytes: Uint8Array): Uint8Array {
  const pooled = Buffer.allocUnsafe(bytes.length);
  pooled.set(bytes);
  return pooled;
}
