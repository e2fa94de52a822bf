import { DESCRIPTORS_BASE64 } from './generated/descriptors';

/** All protos of `proto/` as a binary `google.protobuf.FileDescriptorSet`, without comments. */
export function contractDescriptors(): Uint8Array {
  return Buffer.from(DESCRIPTORS_BASE64, 'base64');
}
