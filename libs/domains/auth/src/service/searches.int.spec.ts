import { createHash } from 'node:crypto';
import { endpoints, type parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { createAuthFixture, type AuthFixture, type InputOf } from '../testing/auth-under-test';

/** More than one page of the largest size, 200. */
const ROWS = 250;
const PAGE_SIZE = 100;

describe('lists with a search', () => {
  let fixture: AuthFixture;
  let organizationId: string;
  const clock = createTestClock();

  beforeAll(async () => {
    fixture = await createAuthFixture({ clock });
    ({ id: organizationId } = await fixture.organization('Searched'));
    // Number 001 has the oldest id. Every fifth key from 005 on is revoked, and every fifth from 006 on has expired.
    await fixture.pool.query(
      `insert into api_keys (id, organization_id, name, sha256, last4, scopes, allowed_models, ip_allowlist, created_at, expires_on, revoked_at, owner_id)
       select 'key-' || number, $1, 'Service ' || number, sha256(number::bytea), 'z' || number, '{chat}', '{}', '{}', $3::timestamptz,
              case when number::int % 5 = 1 then $3::date - 1 end,
              case when number::int % 5 = 0 then $3::timestamptz end, $4
       from (select to_char(n, 'FM000') as number from generate_series(1, $2::int) n) numbers`,
      [organizationId, ROWS, new Date(clock.now()), fixture.operator.id],
    );
    await fixture.pool.query(
      `insert into organizations (id, name, suspended, multiple_completions, ceiling_multiple_completions, created_at)
       select 'org-' || number, 'Customer ' || number, false, false, false, now()
       from (select to_char(n, 'FM000') as number from generate_series(1, $1::int) n) numbers`,
      [ROWS],
    );
    await fixture.pool.query(
      `insert into members (id, email, role, created_at)
       select 'mem-' || number, 'person' || number || '@example.com', 'member', now()
       from (select to_char(n, 'FM000') as number from generate_series(1, $1::int) n) numbers`,
      [ROWS],
    );
    await fixture.pool.query(
      `insert into memberships (organization_id, member_id, role, created_at)
       select $1, id, 'member', now() from members where id like 'mem-___'`,
      [organizationId],
    );
  });
  afterAll(() => fixture.stop());

  type Page = { readonly ids: readonly string[]; readonly nextPageToken: string };

  async function allPages(read: (page: { pageSize: number; pageToken: string }) => Promise<Page>) {
    const found: string[] = [];
    for (let pageToken = ''; ;) {
      const page = await read({ pageSize: PAGE_SIZE, pageToken });
      found.push(...page.ids);
      if (page.nextPageToken === '') return found;
      pageToken = page.nextPageToken;
    }
  }

  const queryOf = ({ pageSize, pageToken }: { pageSize: number; pageToken: string }) => ({
    ...{ page_size: String(pageSize), page_token: pageToken },
  });
  const pageOf = (page: {
    readonly data: readonly { readonly id: string }[];
    readonly next_page_token: string | null;
  }): Page => ({ ids: page.data.map(({ id }) => id), nextPageToken: page.next_page_token ?? '' });
  const keys = (filter: InputOf<typeof parts.keys, 'query'>) =>
    allPages(async (page) => pageOf(await fixture.listKeys(organizationId, { ...queryOf(page), ...filter })));
  const organizations = (
    search: string,
    client = fixture.endpoints,
    filter: { readonly state?: 'active' | 'suspended' } = {},
  ) =>
    allPages(async (page) => {
      const query = { ...queryOf(page), search, ...filter };
      return pageOf(await client.call(endpoints.organizations.list, { query }));
    });
  const members = (search: string) =>
    allPages(async (page) => {
      return pageOf(
        await fixture.endpoints.call(endpoints.people.members, {
          params: { organization_id: organizationId },
          query: { ...queryOf(page), search },
        }),
      );
    });
  const people = (search: string) =>
    allPages(async (page) => {
      const query = { ...queryOf(page), search };
      return pageOf(await fixture.endpoints.call(endpoints.people.list, { query }));
    });

  it('finds the oldest key by part of its name, its id or its last four characters, in any case', async () => {
    for (const search of ['sERVICE 001', 'Key-001', 'Z001', ' z001 ']) {
      expect(await keys({ search })).toEqual(['key-001']);
    }
    expect(await keys({ search: 'nothing' })).toEqual([]);
  });

  it('finds a rotated key by the last four characters of its previous secret', async () => {
    await fixture.pool.query(
      `update api_keys set previous_sha256 = sha256('previous'), previous_last4 = 'Old4', previous_works_until = now()
       where id = 'key-002'`,
    );
    expect(await keys({ search: 'old4' })).toEqual(['key-002']);
  });

  it('finds a key in all organizations by its id, the end of its secret or its hash, and names the organization', async () => {
    const other = await fixture.organization('Elsewhere');
    const key = await fixture.key(other.id);
    const find = async (text: string) =>
      (await fixture.endpoints.call(endpoints.operator.findKeys, { query: { text } })).data;
    const expected = expect.objectContaining({
      ...{ id: key.id, last4: key.last4, state: 'active' },
      organization: { id: other.id, name: 'Elsewhere' },
    });
    for (const text of [key.id, ` ${key.last4} `, createHash('sha256').update(key.secret).digest('hex')]) {
      expect(await find(text)).toContainEqual(expected);
    }
    expect((await find('Old4')).map(({ id }) => id)).toEqual(['key-002']);
    for (const text of ['Service', "x'; --", '\0\0\0\0', '0'.repeat(64)])
      expect(await find(text)).toEqual([]);
  });

  it('pages through every match once, newest first', async () => {
    const found = await keys({ search: 'service' });
    expect(found).toHaveLength(ROWS);
    expect(found).toEqual([...found].sort().reverse());
    expect(new Set(found).size).toBe(ROWS);
  });

  it('counts all matches, on the first page only', async () => {
    const first = await fixture.listKeys(organizationId, { page_size: '100', search: 'service' });
    expect(first.total).toBe(ROWS);
    const page_token = first.next_page_token ?? '';
    const second = await fixture.listKeys(organizationId, {
      page_size: '100',
      search: 'service',
      page_token,
    });
    expect(second.data).toHaveLength(100);
    expect(second.total).toBeUndefined();
    expect((await fixture.listKeys(organizationId, { state: 'revoked', page_size: '1' })).total).toBe(50);
    const query = { page_size: '1', search: 'person' };
    const found = await fixture.endpoints.call(endpoints.people.members, {
      params: { organization_id: organizationId },
      query,
    });
    expect(found.total).toBe(ROWS);
    expect((await fixture.endpoints.call(endpoints.people.list, { query })).total).toBe(ROWS);
  });

  it('filters keys by state across pages', async () => {
    const [active, expired, revoked] = await Promise.all(
      (['active', 'expired', 'revoked'] as const).map((state) => keys({ state })),
    );
    expect([active?.length, expired?.length, revoked?.length]).toEqual([150, 50, 50]);
    expect(expired?.at(-1)).toBe('key-001');
    expect(revoked?.at(-1)).toBe('key-005');
    expect(await keys({ state: 'active', search: '005' })).toEqual([]);
  });

  it('finds keys by id, however old, and only in the organization', async () => {
    const other = await fixture.key((await fixture.organization('Other')).id);
    expect(await keys({ ids: `key-001,key-250,${other.id},-` })).toEqual(['key-250', 'key-001']);
    const tooMany = Array.from({ length: 101 }, (_, index) => `key-${index}`).join(',');
    await expect(keys({ ids: tooMany })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('finds the oldest organization by part of its name or id, and pages through all matches', async () => {
    expect(await organizations('CUSTOMER 001')).toEqual(['org-001']);
    expect(await organizations('ORG-001')).toEqual(['org-001']);
    expect(new Set(await organizations('customer')).size).toBe(ROWS);
    await fixture.pool.query(`update organizations set suspended = true where id in ('org-001', 'org-003')`);
    const suspended = { search: 'customer', state: 'suspended', page_size: '1' } as const;
    const page = await fixture.endpoints.call(endpoints.organizations.list, { query: suspended });
    const query = { ...suspended, page_token: page.next_page_token ?? '' };
    const next = await fixture.endpoints.call(endpoints.organizations.list, { query });
    expect([...page.data, ...next.data].map(({ id }) => id).sort()).toEqual(['org-001', 'org-003']);
    expect(next.next_page_token).toBeNull();
    const active = await organizations('customer', fixture.endpoints, { state: 'active' });
    expect(new Set(active).size).toBe(ROWS - 2);
  });

  it('searches only the organizations of a person who is no operator', async () => {
    const person = fixture.endpointsAs({ id: 'mem-001', label: 'person001@example.com' });
    expect(await organizations('', person)).toEqual([organizationId]);
    expect(await organizations('customer', person)).toEqual([]);
    expect(await organizations('searched', person)).toEqual([organizationId]);
  });

  it('finds the first member by part of the email or the id, and pages through all of them', async () => {
    expect(await members('PERSON001@')).toEqual(['mem-001']);
    expect(await members('Mem-001')).toEqual(['mem-001']);
    expect(new Set(await members('')).size).toBe(ROWS);
    expect(await people('PERSON001@')).toEqual(['mem-001']);
    expect(new Set(await people('@example.com')).size).toBeGreaterThanOrEqual(ROWS);
  });

  it.each(['%', '_', '\\', '%%', '\0', '\ud800', "'; drop table api_keys; --"])(
    'searches for %j literally',
    async (search) => {
      expect(await keys({ search })).toEqual([]);
      expect(await organizations(search)).toEqual([]);
      expect(await members(search)).toEqual([]);
    },
  );

  it('finds names with wildcards', async () => {
    await fixture.pool.query(`update api_keys set name = '100%_\\sure' where id = 'key-003'`);
    for (const search of ['100%', '%_', '\\SURE']) expect(await keys({ search })).toEqual(['key-003']);
  });
});
