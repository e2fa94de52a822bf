import { personLabel, type CancelSignal, type UnixMs } from '@gateway/base';
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
  isSessionActive,
} from '@gateway/auth-shared';
import type { NewSession } from '../model';
import type { PeoplePorts, StoredMember, StoredSession } from '../ports';

/** How often a session's activity is written to the database. */
const ACTIVITY_INTERVAL_MS = 60_000;
const MAX_DEVICE_CHARACTERS = 300;

export interface OpenSession {
  readonly member: Member;
  readonly ipAddress: string;
  /** The User-Agent header. */
  readonly device: string;
  readonly signedInBy: SignInMethod;
}

export interface OpenedSession {
  readonly session: Session;
  /** Shown once; only its hash is stored. */
  readonly sessionToken: string;
}

/**
 * Opens a session with a new token, which prevents session fixation. Undefined: the member was disabled, or their
 * password or second factor changed, after `member` was read.
 */
export async function openSession(
  ports: Pick<PeoplePorts, 'sessions' | 'secrets' | 'clock' | 'newId' | 'settings'>,
  request: OpenSession & { readonly member: StoredMember },
): Promise<OpenedSession | undefined> {
  const { opened, sessionToken } = prepareSession(ports, request);
  const inserted = await ports.sessions.insert(opened, request.member);
  return inserted ? { session: opened.session, sessionToken } : undefined;
}

/** As `openSession`, but leaves the insert to the transaction of the caller's change. */
export function prepareSession(
  ports: Pick<PeoplePorts, 'secrets' | 'clock' | 'newId' | 'settings'>,
  { member, ipAddress, device, signedInBy }: OpenSession,
): { readonly opened: NewSession; readonly sessionToken: string } {
  const now = ports.clock.now();
  const sessionToken = ports.secrets.random();
  const session: Session = {
    id: ports.newId('ses'),
    member: { id: member.id, email: member.email, name: member.name, role: member.role },
    device: device.replace(/[\p{Cc}\p{Cs}]/gu, '').slice(0, MAX_DEVICE_CHARACTERS),
    ipAddress,
    signedInBy,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: (now + ports.settings.sessionLifetimeMs) as UnixMs,
    confirmedAt: now,
  };
  const audit = auditOf(
    {
      actor: { id: member.id, label: personLabel(member), ipAddress },
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

type SessionPorts = Pick<PeoplePorts, 'sessions' | 'secrets' | 'clock' | 'settings'>;

/** The session of a token; undefined if there is none, it has expired, or it was idle for too long. */
export async function findSession(
  ports: SessionPorts,
  sessionToken: string,
): Promise<StoredSession | undefined> {
  const session = await ports.sessions.find(ports.secrets.sha256(sessionToken));
  return session && isActive(ports, session) ? session : undefined;
}

function isActive({ clock, settings }: SessionPorts, session: Session): boolean {
  return isSessionActive(session, clock.now(), settings.sessionIdleMs);
}

/** A verified person, and the session in which they act. */
export interface SessionPerson extends Actor {
  readonly sessionId: string;
}

/** The session of a verified person; undefined if it has ended. */
export async function findOwnSession(
  ports: SessionPorts,
  { id, sessionId }: SessionPerson,
): Promise<StoredSession | undefined> {
  const session = await ports.sessions.findOwn(id, sessionId);
  return session && isActive(ports, session) ? session : undefined;
}

/** As `findSession`, for a request that a person caused: it records activity, which extends an idle session. */
export async function touchSession(
  ports: SessionPorts,
  sessionToken: string,
  ipAddress: string,
): Promise<StoredSession | undefined> {
  const session = await findSession(ports, sessionToken);
  const now = ports.clock.now();
  if (!session || now - session.lastSeenAt < ACTIVITY_INTERVAL_MS) return session;
  const seen = { ...session, lastSeenAt: now, ipAddress: ipAddress || session.ipAddress };
  await ports.sessions.recordActivity(seen);
  return seen;
}

/** Ends the session and its keys. Resolves once no edge can accept them. Idempotent. */
export async function signOut(
  ports: EndPorts & Pick<PeoplePorts, 'secrets'>,
  sessionToken: string,
  signal: CancelSignal,
): Promise<void> {
  await awaitRevocation(ports, await endSessionByToken(ports, ports.secrets.sha256(sessionToken)), signal);
}

/** Ends a session without waiting for edges to evict its keys. */
export async function endSessionByToken(
  ports: Pick<EndPorts, 'sessions' | 'clock' | 'newId'>,
  tokenSha256: Buffer,
): Promise<EndedSessions> {
  return ports.sessions.delete(tokenSha256, ({ id, member }) =>
    auditOf(
      {
        actor: { id: member.id, label: personLabel(member), ipAddress: '' },
        action: 'session.end',
        target: member.id,
        details: { session: id },
      },
      ports,
    ),
  );
}

type EndPorts = Pick<PeoplePorts, 'sessions' | 'leases' | 'feed' | 'clock' | 'newId'>;

/** Resolves once no edge can accept a key that was revoked, such as those of ended sessions. */
export async function awaitRevocation(
  ports: Pick<EndPorts, 'leases' | 'feed'>,
  { sequence }: Pick<EndedSessions, 'sequence'>,
  signal: CancelSignal,
): Promise<void> {
  if (sequence !== undefined) await awaitEdges(ports, sequence, signal);
}

/** Ends one of the actor's own sessions. */
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
  await awaitRevocation(ports, ended, signal);
  return undefined;
}

/** @returns the number of ended sessions. */
export async function endOtherSessions(
  ports: EndPorts,
  { actor, keptSessionId }: { readonly actor: Actor; readonly keptSessionId: string },
  signal: CancelSignal,
): Promise<number> {
  const ended = await ports.sessions.deleteOthers(actor.id, keptSessionId, (count) =>
    auditOf({ actor, action: 'session.end_others', target: actor.id, details: { ended: count } }, ports),
  );
  await awaitRevocation(ports, ended, signal);
  return ended.ended;
}
