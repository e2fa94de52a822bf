/** What a stream may hold unread before its handler waits: whichever is reached first. */
export const STREAM_WINDOW = { messages: 32, bytes: 256 * 1024 } as const;

/** Calls of one connection that are under way or wait for it; more are refused. */
export const MAX_CALLS = 65_536;

/** Requests that a server which does not read leaves unsent, in bytes; more are refused. */
export const MAX_UNSENT_BYTES = 256 * 1024 * 1024;

/** The metadata of one call, in bytes. */
export const MAX_METADATA_BYTES = 65_535;

/** Between attempts to connect. */
export const RECONNECT = { firstMs: 50, maxMs: 1_000 } as const;

/** The longest frame that can hold a message of so many bytes with its metadata; what is around them is below 1 KiB. */
export function maxFrameBytes(maxMessageBytes: number): number {
  return maxMessageBytes + MAX_METADATA_BYTES + 1_024;
}

/** Of one server, which has one of each worker. */
export const MAX_CONNECTIONS = 1_024;
