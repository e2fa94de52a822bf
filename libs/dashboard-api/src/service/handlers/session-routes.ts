import { Router } from 'express';
import { DashboardError } from '../../core/dashboard-error';
import { emptyBody, signInBody } from '../messages/bodies';
import type { DashboardApiPorts } from '../ports';
import { isoTime, memberView } from '../messages/views';
import { createSessionGuard } from '../http/guards';
import { addressOf, readBody, signedInOf } from '../http/request';
import { clearedSessionCookie, sessionCookie } from '../http/session-cookie';

/** Hashing a password takes its time, and others may be waiting. */
const SIGN_IN_TIMEOUT_MS = 15_000;

export function createSessionRoutes(ports: DashboardApiPorts): Router {
  const { authAdmin, settings } = ports;
  const secure = settings.publicOrigin?.startsWith('https://') ?? false;
  const requireSession = createSessionGuard(ports);
  const router = Router();

  router.post('/session', async (request, response) => {
    const { email, password } = readBody(request, signInBody);
    const { outcome } = await authAdmin.signIn(
      { email, password, ipAddress: addressOf(response) },
      { timeoutMs: SIGN_IN_TIMEOUT_MS },
    );
    if (outcome?.$case !== 'signedIn' || !outcome.value.member) {
      const retryAfterMs = outcome?.$case === 'refused' ? outcome.value.retryAfterMs : undefined;
      if (retryAfterMs === undefined) throw new DashboardError('sign_in_refused');
      throw new DashboardError('too_many_attempts', { retryAfterMs });
    }
    const { sessionToken, expiresUnixMs, member } = outcome.value;
    response.setHeader('set-cookie', sessionCookie(sessionToken, expiresUnixMs, secure));
    response.json({ member: memberView(member), expires_at: isoTime(expiresUnixMs) });
  });

  router.get('/session', requireSession, (_request, response) => {
    const { member, expiresUnixMs } = signedInOf(response);
    response.json({ member: memberView(member), expires_at: isoTime(expiresUnixMs) });
  });

  router.delete('/session', requireSession, async (request, response) => {
    readBody(request, emptyBody);
    await authAdmin.signOut({ sessionToken: signedInOf(response).sessionToken });
    response.setHeader('set-cookie', clearedSessionCookie(secure));
    response.status(204).end();
  });

  return router;
}
