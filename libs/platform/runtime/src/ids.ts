import { randomFillSync } from 'node:crypto';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 10;
/** Random bytes are fetched in blocks of this size, since a system call per id is expensive. */
const POOL_BYTES = RANDOM_BYTES * 512;

export interface IdSourceOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly fillRandom: (bytes: Uint8Array) => void;
}

/** Creates ids such as `gen-01JD3M0V8Z6T5QK2X4W9Y7RBCE`. */
export type IdSource = <Prefix extends string>(prefix: Prefix) => `${Prefix}-${string}`;

/**
 * A source of ids: a prefix and a ULID of 26 Crockford characters, with 48 bits
 * of time and 80 random bits. Ids of one source sort by creation time, even when
 * the clock steps backwards. Within one millisecond their order is random, so an
 * id does not reveal how many were created before it.
 */
export function createIdSource({ now, fillRandom }: IdSourceOptions): IdSource {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let time = -1;
  let timeText = '';

  return (prefix) => {
    const at = now();
    if (at > time) {
      time = at;
      timeText = encodeTime(at);
    }
    if (used === POOL_BYTES) {
      fillRandom(pool);
      used = 0;
    }
    const start = used;
    used += RANDOM_BYTES;
    return `${prefix}-${timeText}${encodeFiveBytes(pool, start)}${encodeFiveBytes(pool, start + 5)}`;
  };
}

/** Creates an id from the system clock and random generator; see createIdSource. */
export const newId: IdSource = createIdSource({ now: Date.now, fillRandom: randomFillSync });

/** Creates a request id such as `req_01JD3M0V8Z6T5QK2X4W9Y7RBCE`, with the underscore of OpenAI's request ids. */
export const newRequestId = (): string => newId('req').replace('-', '_');

/** A lower bound of the ids created at or after a time: the prefix and the time, without random bits. */
export function smallestIdAt(prefix: string, unixMs: number): string {
  return `${prefix}-${encodeTime(unixMs)}`;
}

function encodeTime(at: number): string {
  let rest = at;
  let text = '';
  for (let index = 0; index < TIME_CHARACTERS; index += 1) {
    text = CROCKFORD.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Forty bits as eight characters of five bits each. */
function encodeFiveBytes(bytes: Uint8Array, start: number): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(start, start + 5);
  return (
    CROCKFORD.charAt(a >> 3) +
    CROCKFORD.charAt(((a & 7) << 2) | (b >> 6)) +
    CROCKFORD.charAt((b >> 1) & 31) +
    CROCKFORD.charAt(((b & 1) << 4) | (c >> 4)) +
    CROCKFORD.charAt(((c & 15) << 1) | (d >> 7)) +
    CROCKFORD.charAt((d >> 2) & 31) +
    CROCKFORD.charAt(((d & 3) << 3) | (e >> 5)) +
    CROCKFORD.charAt(e & 31)
  );
}
