import { auditOf } from '../audit/audit';
import type { Session } from '../model';
import type { AuthPorts } from '../ports';

/** The session of a token; undefined when there is none or it has expired. */
export async function getSession(
  ports: Pick<AuthPorts, 'sessions' | 'secrets' | 'clock'>,
  sessionToken: string,
): Promise<Session | undefined> {
  const session = await ports.sessions.find(ports.secrets.sha256(sessionToken));
  return session && session.expiresAt > ports.clock.now() ? session : undefined;
}

/** Ends the session at once. Idempotent. */
export async function signOut(
  ports: Pick<AuthPorts, 'sessions' | 'secrets' | 'clock' | 'newId'>,
  sessionToken: string,
): Promise<void> {
  await ports.sessions.delete(ports.secrets.sha256(sessionToken), ({ member }) =>
    auditOf(
      {
        actor: { id: member.id, label: member.email, ipAddress: '' },
        action: 'session.end',
        target: member.id,
        details: {},
      },
      ports,
    ),
  );
}
