import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { MessageCodec } from './definition';

/** V8 keeps arrays up to this size on its own heap, and reading one there moves it off first. */
const ON_HEAP_BYTES = 64;
/** A writer whose buffer grew beyond this is not kept. */
const MAX_KEPT_BYTES = 256 * 1024;

let shared = new BinaryWriter();

/** The bytes of a message. */
export function encodeMessage<Message>(
  codec: Pick<MessageCodec<Message>, 'encode'>,
  message: Message,
): Uint8Array {
  return encodeWith((writer) => codec.encode(message, writer));
}

/**
 * What is written, as bytes. All messages go through one writer, since a buffer
 * of its own for each would cost more than the writing; encoding never yields,
 * so there is only ever one at work.
 *
 * @param write - answers the writer that it was given.
 */
export function encodeWith(write: (writer: BinaryWriter) => { finish(): Uint8Array }): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = write(shared).finish();
  } catch (error) {
    // An invalid value stopped it half-way.
    shared = new BinaryWriter();
    throw error;
  }
  if (bytes.length > MAX_KEPT_BYTES) shared = new BinaryWriter();
  return bytes.length <= ON_HEAP_BYTES ? inPool(bytes) : bytes;
}

function inPool(bytes: Uint8Array): Uint8Array {
  const pooled = Buffer.allocUnsafe(bytes.length);
  pooled.set(bytes);
  return pooled;
}
