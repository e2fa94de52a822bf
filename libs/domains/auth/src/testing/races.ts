import type { MemberRole } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import type { PoolClient } from 'pg';
import { codeOf, createAuthFixture } from './auth-under-test';

/** Someone who acts in a confirmed session. */
export interface Person {
  readonly id: string;
  readonly label: string;
  readonly ipAddress: string;
  readonly sessionId: string;
}

export const wasAccepted = async (call: Promise<unknown>) => (await codeOf(call)) === undefined;

/** The auth service, with people and with changes that meet each other at locks. */
export async function createRaceFixture() {
  const fixture = await createAuthFixture();
  const { pool } = fixture;
  let people = 0;

  async function person(
    role: MemberRole,
    membership?: { readonly organizationId: string; readonly role: string },
  ): Promise<Person> {
    const label = `racer-${(people += 1)}@example.com`;
    const wanted = { email: label, password: 'correct horse battery', resetPassword: false, role };
    const id = (await fixture.admin.ensureMember(wanted)).member?.id ?? '';
    const sessionId = `ses-${people}`;
    await pool.query(
      `insert into sessions
         (token_sha256, id, member_id, device, ip_address, signed_in_by, created_at, last_seen_at, expires_at, confirmed_at)
       values (sha256($1::text::bytea), $1, $2, '', '', 'password', now(), now(), '2100-01-01', '2100-01-01')`,
      [sessionId, id],
    );
    if (membership) {
      const { organizationId, role: organizationRole } = membership;
      const values = [organizationId, id, organizationRole];
      await pool.query('insert into memberships values ($1, $2, $3, now())', values);
    }
    return { id, label, ipAddress: '192.0.2.1', sessionId };
  }

  /**
   * Starts the changes while another transaction has locked all people and the organization. Once every change has
   * checked what it checks before its transaction, that transaction runs `meanwhile` and commits.
   *
   * @returns which of the changes were accepted.
   */
  async function race(
    organizationId: string,
    changes: readonly (() => Promise<boolean>)[],
    meanwhile?: (blocker: PoolClient) => Promise<unknown>,
  ): Promise<boolean[]> {
    const blocker = await pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query('select from members for update');
      await blocker.query('select from organizations where id = $1 for update', [organizationId]);
      let settled = 0;
      const running = changes.map(async (change) => {
        try {
          return await change();
        } finally {
          settled += 1;
        }
      });
      for (let waiting = 0; settled + waiting < changes.length; waiting = await lockWaits()) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      await meanwhile?.(blocker);
      await blocker.query('commit');
      return await Promise.all(running);
    } finally {
      blocker.release(true);
    }
  }

  async function lockWaits(): Promise<number> {
    const { rows } = await pool.query<{ waiting: number }>(
      `select count(*)::integer as waiting from pg_stat_activity
       where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return rows[0]?.waiting ?? 0;
  }

  /** @param organizationId - undefined: a token of the platform. */
  async function createToken(actor: Person, organizationId: string | undefined): Promise<boolean> {
    const body = {
      ...{ name: 'token', access: 'read' as const },
      expires_on: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
    };
    const { managementTokens } = endpoints;
    const client = fixture.endpointsAs(actor);
    return wasAccepted(
      organizationId === undefined
        ? client.call(managementTokens.createPlatform, { body })
        : client.call(managementTokens.create, {
            params: { organization_id: organizationId },
            body: { ...body, role: 'admin' },
          }),
    );
  }

  return { ...fixture, person, race, createToken };
}

export type RaceFixture = Awaited<ReturnType<typeof createRaceFixture>>;
