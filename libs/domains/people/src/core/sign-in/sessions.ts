import type { CancelSignal, UnixMs } from '@gateway/base';
import {
  notFound,
  type AdminRefusal,
  auditOf,
  type Actor,
  type EndedSessions,
  type Member,
  type Session,
  type SignInMethod,
  awaitEdges,
  isIdLike,
  isRunning,
} from '@gateway/auth-shared';
import type { NewSession } from '../model';
import type { PeoplePorts } from '../ports';
/** When and where a session was seen is noted this often; each note is a write. */
const SEEN_EVERY_MS = 60_000;
const MAX_DEVICE_CHARACTERS = 300;

export interface OpenSession {
  readonly member: Member;
  readonly ipAddress: string;
  /** As the browser calls itself. */
  readonly device: string;
  readonly signedInBy: SignInMethod;
}

export interface OpenedSession {
  readonly session: Session;
  /** Shown once; only its hash is stored. */
  readonly sessionToken: string;
}

/** A session under a token of its own: one that somebody knew before the sign-in is good for nothing after it. */
export async function openSession(
  ports: Pick<PeoplePorts, 'sessions' | 'secrets' | 'clock' | 'newId' | 'settings'>,
  request: OpenSession,
): Promise<OpenedSession> {
  const { opened, sessionToken } = prepareSession(ports, request);
  await ports.sessions.insert(opened.tokenSha256, opened.session, opened.audit);
  return { session: opened.session, sessionToken };
}

/** The same for where the session is written together with what brings it about. */
export function prepareSession(
  ports: Pick<PeoplePorts, 'secrets' | 'clock' | 'newId' | 'settings'>,
  { member, ipAddress, device, signedInBy }: OpenSession,
): { readonly opened: NewSession; readonly sessionToken: string } {
  const now = ports.clock.now();
  const sessionToken = ports.secrets.random();
  const session: Session = {
    id: ports.newId('ses'),
    member: { id: member.id, email: member.email, role: member.role },
    device: device.replace(/[\p{Cc}\p{Cs}]/gu, '').slice(0, MAX_DEVICE_CHARACTERS),
    ipAddress,
    signedInBy,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: (now + ports.settings.sessionLifetimeMs) as UnixMs,
  };
  const audit = auditOf(
    {
      actor: { id: member.id, label: member.email, ipAddress },
      action: 'session.create',
      target: member.id,
      details: {
        session: session.id,
        signed_in_by: signedInBy,
        expires_at: new Date(session.expiresAt).toISOString(),
      },
    },
    ports,
  );
  return { opened: { tokenSha256: ports.secrets.sha256(sessionToken), session, audit }, sessionToken };
}

/** The session of a token; undefined when there is none, or it has expired or was idle for too long. */
export async function getSession(
  ports: Pick<PeoplePorts, 'sessions' | 'secrets' | 'clock' | 'settings'>,
  sessionToken: string,
  ipAddress = '',
): Promise<Session | undefined> {
  const now = ports.clock.now();
  const session = await ports.sessions.find(ports.secrets.sha256(sessionToken));
  if (!session || !isRunning(session, now, ports.settings.sessionIdleMs)) return undefined;
  if (now - session.lastSeenAt < SEEN_EVERY_MS) return session;
  const seen = { ...session, lastSeenAt: now, ipAddress: ipAddress || session.ipAddress };
  await ports.sessions.noteSeen(seen);
  return seen;
}

/** Ends the session at once, and the keys that were made for it. Idempotent. */
export async function signOut(
  ports: EndPorts & Pick<PeoplePorts, 'secrets'>,
  sessionToken: string,
  signal: CancelSignal,
): Promise<void> {
  await endedEverywhere(ports, await endSessionOf(ports, ports.secrets.sha256(sessionToken)), signal);
}

/** By the hash of its token, and without waiting for edges to hear of its keys. */
export async function endSessionOf(
  ports: Pick<EndPorts, 'sessions' | 'clock' | 'newId'>,
  tokenSha256: Buffer,
): Promise<EndedSessions> {
  return ports.sessions.delete(tokenSha256, ({ id, member }) =>
    auditOf(
      {
        actor: { id: member.id, label: member.email, ipAddress: '' },
        action: 'session.end',
        target: member.id,
        details: { session: id },
      },
      ports,
    ),
  );
}

type EndPorts = Pick<PeoplePorts, 'sessions' | 'leases' | 'feed' | 'clock' | 'newId'>;

/** Answers once no edge can accept a key of a session that has ended. */
async function endedEverywhere(ports: EndPorts, { sequence }: EndedSessions, signal: CancelSignal) {
  if (sequence !== undefined) await awaitEdges(ports, sequence, signal);
}

/** Ends one of the actor's own sessions, and says so when there is none of that name. */
export async function endSession(
  ports: EndPorts,
  { actor, sessionId }: { readonly actor: Actor; readonly sessionId: string },
  signal: CancelSignal,
): Promise<AdminRefusal | undefined> {
  const details = { session: sessionId };
  const audit = auditOf({ actor, action: 'session.end', target: actor.id, details }, ports);
  if (!isIdLike(sessionId)) return notFound('session');
  const ended = await ports.sessions.deleteOwn(actor.id, sessionId, audit);
  if (ended.ended === 0) return notFound('session');
  await endedEverywhere(ports, ended, signal);
  return undefined;
}

/** @returns how many have ended. */
export async function endOtherSessions(
  ports: EndPorts,
  { actor, keptSessionId }: { readonly actor: Actor; readonly keptSessionId: string },
  signal: CancelSignal,
): Promise<number> {
  const ended = await ports.sessions.deleteOthers(actor.id, keptSessionId, (count) =>
    auditOf({ actor, action: 'session.end_others', target: actor.id, details: { ended: count } }, ports),
  );
  await endedEverywhere(ports, ended, signal);
  return ended.ended;
}
