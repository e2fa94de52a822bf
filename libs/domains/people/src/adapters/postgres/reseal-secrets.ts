import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';
import type { SecretSealer } from '../../core/ports';

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
async function resealSecrets(
  { pool, sealer, log }: { readonly pool: Pool; readonly sealer: SecretSealer; readonly log: Logger },
  signal?: AbortSignal,
): Promise<number> {
  let resealed = 0;
  let after = '';
  for (;;) {
    const { rows } = await pool.query<{ id: string; totp_secret: string }>(NEXT, [
      sealer.currentPrefix,
      after,
    ]);
    for (const { id, totp_secret: stored } of rows) {
      try {
        const { rowCount } = await pool.query(RESEAL, [id, stored, sealer.seal(sealer.open(stored, id), id)]);
        resealed += rowCount ?? 0;
      } catch (error) {
        log.error({ err: error, memberId: id }, 'the secret of a second factor cannot be sealed anew');
      }
    }
    const last = rows.at(-1);
    if (!last || signal?.aborted) return resealed;
    after = last.id;
  }
}

export interface Resealing {
  /** Begins, and does not wait: nothing depends on it. */
  start(): void;
  stop(): Promise<void>;
}

/** `resealSecrets` once, beside the start. */
export function createResealing({
  pool,
  sealer,
  log,
}: {
  readonly pool: Pool;
  readonly sealer: SecretSealer | undefined;
  readonly log: Logger;
}): Resealing {
  const abort = new AbortController();
  let running: Promise<void> = Promise.resolve();
  return {
    start() {
      if (!sealer) return;
      running = resealSecrets({ pool, sealer, log }, abort.signal).then(
        (resealed) => {
          if (resealed > 0) log.info({ resealed }, 'secrets were sealed with the current key');
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
