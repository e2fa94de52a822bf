import type { AuthAdminDefinition } from '@gateway/contracts/auth';
import type { RpcHandlers } from '@gateway/rpc';
import type { AuthPorts } from '../../core/ports';
import { signIn } from '../../core/sign-in/sign-in';
import type { AuthMetrics } from '../metrics';
import { memberMessage } from '../messages';

export function createSignInHandler(
  ports: AuthPorts,
  { signIns }: AuthMetrics,
): RpcHandlers<typeof AuthAdminDefinition>['signIn'] {
  return async (request) => {
    const outcome = await signIn(ports, request);
    signIns[outcome.kind].inc();
    switch (outcome.kind) {
      case 'signed_in': {
        const { sessionToken, expiresAt, member } = outcome;
        const value = { sessionToken, expiresUnixMs: BigInt(expiresAt), member: memberMessage(member) };
        return { outcome: { $case: 'signedIn', value } };
      }
      case 'refused':
        return { outcome: { $case: 'refused', value: {} } };
      case 'too_many_attempts':
        return { outcome: { $case: 'refused', value: { retryAfterMs: outcome.retryAfterMs } } };
    }
  };
}
