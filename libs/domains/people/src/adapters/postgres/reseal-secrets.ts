import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';
import type { SecretCipher } from '../../core/ports';

const BATCH = 200;

/** By id, so that one that cannot be opened is passed by. */
const NEXT = `
  select id, totp_secret from members
  where totp_secret is not null and not starts_with(totp_secret, $1) and id > $2
  order by id limit ${BATCH}`;
/** Somebody may have begun anew in between. */
const RESEAL = `update members set totp_secret = $3 where id = $1 and totp_secret = $2`;

/**
 * Seals secrets anew that are plain, from before there were keys, or sealed
 * with a key that is not the current one any more. Several replicas may do so at once.
 *
 * @returns how many there were; those whose key is missing are logged, and left as they are.
 */
async function reencryptSecrets(
  { pool, cipher, log }: { readonly pool: Pool; readonly cipher: SecretCipher; readonly log: Logger },
  signal?: AbortSignal,
): Promise<number> {
  let reencrypted = 0;
  let after = '';
  for (;;) {
    const { rows } = await pool.query<{ id: string; totp_secret: string }>(NEXT, [
      cipher.currentPrefix,
      after,
    ]);
    for (const { id, totp_secret: stored } of rows) {
      try {
        const { rowCount } = await pool.query(RESEAL, [id, stored, cipher.seal(cipher.open(stored, id), id)]);
        reencrypted += rowCount ?? 0;
      } catch (error) {
        log.error({ err: error, memberId: id }, 'the secret of a second factor cannot be sealed anew');
      }
    }
    const last = rows.at(-1);
    if (!last || signal?.aborted) return reencrypted;
    after = last.id;
  }
}

export interface Reencryption {
  /** Begins, and does not wait: nothing depends on it. */
  start(): void;
  stop(): Promise<void>;
}

/** `reencryptSecrets` once, beside the start. */
export function createReencryption({
  pool,
  cipher,
  log,
}: {
  readonly pool: Pool;
  readonly cipher: SecretCipher | undefined;
  readonly log: Logger;
}): Reencryption {
  const abort = new AbortController();
  let running: Promise<void> = Promise.resolve();
  return {
    start() {
      if (!cipher) return;
      running = reencryptSecrets({ pool, cipher, log }, abort.signal).then(
        (reencrypted) => {
          if (reencrypted > 0) log.info({ reencrypted }, 'secrets were sealed with the current key');
        },
        (error: unknown) =>
          log.warn({ err: error }, 'secrets could not be sealed anew; the next start goes on'),
      );
    },
    async stop() {
      abort.abort();
      await running;
    },
  };
}
