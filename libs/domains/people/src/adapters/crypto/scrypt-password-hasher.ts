import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '@gateway/errors';
import type { PasswordHasher } from '../../core/ports';

export interface ScryptCost {
  /** Power of two; memory is 128 × N × r bytes. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB and about 0.2 s of one core. */
const DEFAULT_SCRYPT_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 3 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Each hash occupies a thread of libuv's pool and 32 MiB; more would starve other work. */
const MAX_CONCURRENT_HASHES = 2;
const MAX_QUEUED_HASHES = 64;

/**
 * scrypt with a random salt. The stored text includes the cost, so the cost can
 * be raised without invalidating existing passwords. At most 64 hashes are
 * queued; more are refused as `no_capacity`.
 */
export function createScryptPasswordHasher(cost: ScryptCost = DEFAULT_SCRYPT_COST): PasswordHasher {
  const limited = createConcurrencyLimit(MAX_CONCURRENT_HASHES, MAX_QUEUED_HASHES);

  async function hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const derived = await limited(() => derive(password, salt, cost));
    return encode(cost, salt, derived);
  }

  async function verify(password: string, stored: string | undefined): Promise<boolean> {
    if (stored === undefined) {
      await limited(() => derive(password, randomBytes(SALT_BYTES), cost));
      return false;
    }
    const parts = decode(stored);
    const derived = await limited(() => derive(password, parts.salt, parts.cost));
    return timingSafeEqual(derived, parts.hash);
  }

  /** The stored hash contains a random salt, so a version neither reveals equal passwords nor helps to guess them. */
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
  if (!match) throw new Error('a stored password hash is malformed');
  const [, N, r, p, salt = '', hash = ''] = match;
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}

function createConcurrencyLimit(maxRunning: number, maxQueued: number) {
  const queue: (() => void)[] = [];
  let running = 0;
  return async function limited<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= maxRunning) {
      if (queue.length >= maxQueued) {
        throw new GatewayError('no_capacity', {
          message: 'Too many concurrent sign-ins. Try again shortly.',
        });
      }
      // A finished hash passes its slot on, so `running` does not change.
      await new Promise<void>((resolve) => queue.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
