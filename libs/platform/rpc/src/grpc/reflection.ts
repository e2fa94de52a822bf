import type { Server } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';

/**
 * Lets the server say what it serves (grpc.reflection.v1 and v1alpha), so that
 * grpcurl and its like need no proto files.
 *
 * @param descriptors a `google.protobuf.FileDescriptorSet` in its binary form.
 * @param services full names of those that it lists.
 */
export function addReflection(server: Server, descriptors: Uint8Array, services: readonly string[]): void {
  const definitions = loadFileDescriptorSetFromBuffer(Buffer.from(descriptors));
  new ReflectionService(definitions, { services: [...services] }).addToServer(server);
}
