import type { AuthDefinition } from '@gateway/contracts/auth';
import { GatewayError } from '@gateway/errors';
import type { RpcHandlers } from '@gateway/rpc';
import type { AuthPorts } from '../../core/ports';
import { verifyKey } from '../../core/keys/verify-key';
import { renewLease, watchInvalidations } from '../../core/invalidation/watch-invalidations';
import { invalidationMessage, keyGrantMessage } from '../messages';
import type { AuthMetrics } from '../metrics';

/** Maximum open watches of one replica; far above the number of edges. */
const MAX_WATCHES = 1_000;

/** The service that edges call. */
export function createAuthHandlers(
  ports: AuthPorts,
  metrics: AuthMetrics,
): RpcHandlers<typeof AuthDefinition> {
  let watches = 0;
  return {
    async verifyKey({ keySha256 }) {
      const grant = await verifyKey(ports, keySha256);
      if (!grant) {
        metrics.verifiedUnknown.inc();
        return { outcome: { $case: 'unknown', value: {} } };
      }
      metrics.verifiedGrant.inc();
      return { outcome: { $case: 'grant', value: keyGrantMessage(grant) } };
    },

    async *watchInvalidations({ edgeId }, { signal }) {
      if (watches >= MAX_WATCHES) {
        throw new GatewayError('no_capacity', { internalMessage: `${MAX_WATCHES} watches are open` });
      }
      watches += 1;
      metrics.watches.set(watches);
      try {
        for await (const invalidation of watchInvalidations(ports, edgeId, signal)) {
          yield invalidationMessage(invalidation);
        }
      } finally {
        watches -= 1;
        metrics.watches.set(watches);
      }
    },

    async renewLease({ edgeId, acknowledgedSequence }) {
      return { leaseMs: await renewLease(ports, edgeId, acknowledgedSequence) };
    },
  };
}
