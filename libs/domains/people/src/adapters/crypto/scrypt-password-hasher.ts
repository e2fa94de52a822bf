import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '@gateway/errors';
import type { PasswordHasher } from '../../core/ports';

export interface ScryptCost {
  /** Power of two; memory is 128 × N × r bytes. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB and about a fifth of a second of one core. */
const DEFAULT_SCRYPT_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 3 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Each takes a thread of the pool and its memory; more would starve everything else. */
const MAX_CONCURRENT_HASHES = 2;
const MAX_WAITING_HASHES = 64;

/**
 * scrypt with a random salt. The cost travels in the stored text, so that it
 * can be raised without locking anybody out. Beyond 64 waiting hashes more are
 * refused as `no_capacity`.
 */
export function createScryptPasswordHasher(cost: ScryptCost = DEFAULT_SCRYPT_COST): PasswordHasher {
  const inTurn = createTurns(MAX_CONCURRENT_HASHES, MAX_WAITING_HASHES);

  async function hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const derived = await inTurn(() => derive(password, salt, cost));
    return encode(cost, salt, derived);
  }

  async function verify(password: string, stored: string | undefined): Promise<boolean> {
    if (stored === undefined) {
      await inTurn(() => derive(password, randomBytes(SALT_BYTES), cost));
      return false;
    }
    const parts = decode(stored);
    const derived = await inTurn(() => derive(password, parts.salt, parts.cost));
    return timingSafeEqual(derived, parts.hash);
  }

  /** The salt in the hash keeps equal passwords from having equal versions, and guesses from being checked. */
  function versionOf(stored: string): string {
    return createHash('sha256').update(stored).digest('base64url');
  }

  return { hash, verify, versionOf };
}

function derive(password: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  const maxmem = 2 * 128 * N * r;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, { N, r, p, maxmem }, (error, derived) =>
      error ? reject(error) : resolve(derived),
    );
  });
}

function encode({ N, r, p }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return `scrypt$${N}$${r}$${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

function decode(stored: string): { cost: ScryptCost; salt: Buffer; hash: Buffer } {
  const match = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/.exec(stored);
  if (!match) throw new Error('a stored password hash is not readable');
  const [, N, r, p, salt = '', hash = ''] = match;
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}

function createTurns(maxRunning: number, maxWaiting: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= maxRunning) {
      if (waiting.length >= maxWaiting) {
        throw new GatewayError('no_capacity', { message: 'Too many sign-ins at once. Try again shortly.' });
      }
      // The turn is handed over by whoever finishes, so `running` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
