import { RpcError, type RpcFailure } from '../rpc-error';

/**
 * How calls cross a local connection. A frame is the length of what follows
 * (32 bits), its kind (8), the number of its call (32) and a body; numbers are
 * little-endian. Calls are numbered by the caller.
 */
export const FrameKind = {
  /** The server's first: what it serves, as a MethodTable in JSON. A request names a method by its place there. */
  methods: 1,
  /** Body: see request-frame.ts. */
  request: 2,
  /** A unary call's response. */
  answer: 3,
  /** What the handler threw, as error-codec.ts writes it. */
  error: 4,
  /** From either side: the call is over, its handler did not end it. Body: the reason, a byte. */
  cut: 5,
  /** The next message of a stream. */
  message: 6,
  /** The stream's end. */
  end: 7,
  /** The caller has read so much of a stream. Body: messages (32 bits), their bytes (32). */
  credit: 8,
} as const;

export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

export const LENGTH_BYTES = 4;
/** Kind and call, which every frame has behind its length. */
export const HEAD_BYTES = 5;
export const CREDIT_BYTES = 8;
export const NOTHING = Buffer.alloc(0);

/** The bytes are not what a peer of this version sends: the connection cannot be trusted any more. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

/** As numbered on the wire. */
const REASONS: readonly RpcFailure[] = [
  'unreachable',
  'unavailable',
  'deadline_exceeded',
  'unimplemented',
  'cancelled',
];
const CUTS = new Map(REASONS.map((reason, index) => [reason, Buffer.from([index])]));

export function cutBody(reason: RpcFailure): Buffer {
  return CUTS.get(reason) ?? NOTHING;
}

/** @throws MalformedFrame */
export function readCut(body: Buffer, call: { readonly service: string; readonly method: string }): RpcError {
  const reason = REASONS[body[0] ?? REASONS.length];
  if (reason === undefined) throw new MalformedFrame('a call was cut for no known reason');
  return new RpcError(reason, `${call.service}/${call.method} was cut by the other side: ${reason}`);
}
