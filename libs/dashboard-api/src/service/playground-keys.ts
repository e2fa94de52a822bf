import type { Actor } from '@gateway/contracts/auth';
import type { DashboardApiPorts } from './ports';

/** How long a key of the playground works. */
export const PLAYGROUND_KEY_LIFETIME_MS = 15 * 60 * 1_000;
/** Keys that one process looks after; beyond it the oldest ends at once. */
const MAX_KEYS = 1_000;

interface LivingKey {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly keyId: string;
  readonly timer: NodeJS.Timeout;
}

/**
 * Ends keys of the playground when their minutes are over, when their person
 * asks for another, and when this process stops. One that is killed leaves it
 * to the key's own expiry, at the end of the day.
 */
export class PlaygroundKeys {
  private readonly living = new Map<string, LivingKey>();

  constructor(private readonly ports: Pick<DashboardApiPorts, 'authAdmin' | 'log'>) {}

  async add(actor: Actor, organizationId: string, keyId: string): Promise<void> {
    const owner = `${actor.id} ${organizationId}`;
    const before = this.living.get(owner);
    const timer = setTimeout(() => void this.end(owner, keyId), PLAYGROUND_KEY_LIFETIME_MS);
    timer.unref();
    this.living.delete(owner);
    this.living.set(owner, { actor, organizationId, keyId, timer });
    if (before) await this.revoke(before);
    const [oldest] = this.living.entries();
    if (oldest && this.living.size > MAX_KEYS) await this.end(oldest[0], oldest[1].keyId);
  }

  async stop(): Promise<void> {
    const left = [...this.living.values()];
    this.living.clear();
    await Promise.all(left.map((key) => this.revoke(key)));
  }

  private async end(owner: string, keyId: string): Promise<void> {
    const key = this.living.get(owner);
    if (key?.keyId !== keyId) return;
    this.living.delete(owner);
    await this.revoke(key);
  }

  private async revoke({ actor, organizationId, keyId, timer }: LivingKey): Promise<void> {
    clearTimeout(timer);
    try {
      await this.ports.authAdmin.revokeKey({ actor, organizationId, keyId });
    } catch (error) {
      this.ports.log.warn(
        { err: error, keyId },
        'a key of the playground could not be ended; it expires tonight',
      );
    }
  }
}
