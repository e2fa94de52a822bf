import type { Server } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';

/**
 * Adds grpc.reflection.v1 and v1alpha, so that tools such as grpcurl need no
 * proto files.
 *
 * @param descriptors a binary `google.protobuf.FileDescriptorSet`.
 * @param services full names of the services to list.
 */
export function addReflection(server: Server, descriptors: Uint8Array, services: readonly string[]): void {
  const definitions = Object.entries(loadFileDescriptorSetFromBuffer(Buffer.from(descriptors)));
  // Each definition contains all files, and the service would decode them once per definition.
  const whole = Object.fromEntries(definitions.slice(0, 1));
  new ReflectionService(whole, { services: [...services] }).addToServer(server);
}
