import type { SecretCipher } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';

const NEXT = `
  select organization_id, webhook_secret from credit_alerts
  where webhook_secret is not null and not starts_with(webhook_secret, $1) and organization_id > $2
  order by organization_id limit 200`;
/** Only if it is unchanged: an owner may have replaced the webhook. */
const UPDATE =
  'update credit_alerts set webhook_secret = $3 where organization_id = $1 and webhook_secret = $2';

export interface WebhookSecretsOptions {
  readonly pool: Pool;
  /** Absent: no webhook can be stored. */
  readonly cipher: SecretCipher | undefined;
  readonly log: Logger;
}

/** Signing secrets of the webhooks of organizations, which are stored encrypted. */
export interface WebhookSecrets {
  /** Whether secrets can be encrypted. */
  readonly available: boolean;
  encrypt(organizationId: string, secret: string): string;
  /** @returns undefined for a secret that cannot be decrypted, which is logged. */
  decrypt(organizationId: string, encrypted: string | null): string | undefined;
  /** Encrypts secrets that use an older key with the current one. Replicas may run it concurrently. */
  reencrypt(): Promise<void>;
}

export function createWebhookSecrets({ pool, cipher, log }: WebhookSecretsOptions): WebhookSecrets {
  function encrypt(organizationId: string, secret: string): string {
    if (!cipher) throw new Error('GATEWAY_SECRETS_KEY is not set');
    return cipher.encrypt(secret, contextOf(organizationId));
  }

  function decrypt(organizationId: string, encrypted: string | null): string | undefined {
    if (encrypted === null) return undefined;
    try {
      if (!cipher) throw new Error('GATEWAY_SECRETS_KEY is not set');
      return cipher.decrypt(encrypted, contextOf(organizationId));
    } catch (error) {
      log.error({ err: error, organizationId }, 'the secret of a webhook cannot be decrypted');
      return undefined;
    }
  }

  return {
    available: cipher !== undefined,
    encrypt,
    decrypt,
    async reencrypt() {
      if (!cipher) return;
      let after = '';
      for (;;) {
        const { rows } = await pool.query<SecretRow>(NEXT, [cipher.currentPrefix, after]);
        for (const { organization_id: id, webhook_secret: stored } of rows) {
          const secret = decrypt(id, stored);
          if (secret !== undefined) await pool.query(UPDATE, [id, stored, encrypt(id, secret)]);
        }
        const last = rows.at(-1);
        if (!last) return;
        after = last.organization_id;
      }
    },
  };
}

interface SecretRow {
  readonly organization_id: string;
  readonly webhook_secret: string;
}

function contextOf(organizationId: string): string {
  return `credit alert webhook ${organizationId}`;
}
