import type { SecretCipher } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';

const BATCH = 200;

/** Pages by id, so that a secret that cannot be decrypted is skipped. */
const NEXT = `
  select id, totp_secret from members
  where totp_secret is not null and not starts_with(totp_secret, $1) and id > $2
  order by id limit ${BATCH}`;
/** Only if the stored secret is unchanged: the member may have enrolled again meanwhile. */
const UPDATE = `update members set totp_secret = $3 where id = $1 and totp_secret = $2`;

/**
 * Re-encrypts secrets that use an older key. Replicas may run it concurrently.
 * Secrets that cannot be decrypted are logged and left unchanged.
 *
 * @returns the number of re-encrypted secrets.
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
        const { rowCount } = await pool.query(UPDATE, [
          id,
          stored,
          cipher.encrypt(cipher.decrypt(stored, id), id),
        ]);
        reencrypted += rowCount ?? 0;
      } catch (error) {
        log.error({ err: error, memberId: id }, 'the secret of a second factor cannot be re-encrypted');
      }
    }
    const last = rows.at(-1);
    if (!last || signal?.aborted) return reencrypted;
    after = last.id;
  }
}

export interface Reencryption {
  /** Starts in the background. */
  start(): void;
  stop(): Promise<void>;
}

/** Runs `reencryptSecrets` once after startup. */
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
          if (reencrypted > 0) log.info({ reencrypted }, 're-encrypted secrets with the current key');
        },
        (error: unknown) => log.warn({ err: error }, 'cannot re-encrypt secrets; retrying at the next start'),
      );
    },
    async stop() {
      abort.abort();
      await running;
    },
  };
}
