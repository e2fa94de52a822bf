import { endpoints, type Endpoint } from '@gateway/dashboard-contract';
import type { z } from 'zod';
import { createAuthFixture, limitsBody, type AuthFixture } from '../testing/auth-under-test';

const { organizations, projects, keys } = endpoints;

/** Values before and after a change, by field. Null after it means none. */
const CHANGES: Readonly<Record<string, readonly [before: unknown, after: unknown]>> = {
  name: ['before', 'after'],
  requests_per_minute: [100, 90],
  tokens_per_minute: [1_000, 900],
  concurrency: [10, null],
  max_output_tokens: [500, 400],
  daily_budget_usd: ['10', '9'],
  weekly_budget_usd: ['100', '90'],
  monthly_budget_usd: ['100', '90'],
  total_budget_usd: ['1000', null],
  budgets: [[{ period: 'window', hours: 24, amount_usd: '5' }], []],
  multiple_completions: [true, false],
  allowed_providers: [['acme'], null],
  denied_providers: [['other'], ['else']],
  allowed_regions: [['eu'], ['us']],
  denied_regions: [['cn'], []],
  usage_tags: [['customer_id'], null],
  scopes: [['chat', 'usage:read'], ['chat']],
  allowed_models: [['demo/standard'], null],
  ip_allowlist: [['192.0.2.1'], null],
  expires_on: ['2099-01-01', null],
  json_streaming: [true, false],
};
/** Not in the response under its name, or of another kind of test. */
const OTHERS = ['version', 'project_id'];

type Value = Record<string, unknown>;

describe('a change of some fields', () => {
  let fixture: AuthFixture;
  let organizationId: string;

  beforeAll(async () => {
    fixture = await createAuthFixture();
  });
  beforeEach(async () => {
    ({ id: organizationId } = await fixture.organization());
    await fixture.setCeilings(organizationId, { multipleCompletions: true });
  });
  afterAll(() => fixture.stop());

  const inOrganization = () => ({ organization_id: organizationId });
  const readOrganization = async () => {
    const { organization } = await fixture.endpoints.call(organizations.get, { params: inOrganization() });
    return organization;
  };

  interface Case {
    readonly endpoint: Endpoint;
    /** @returns the parameters of the path. */
    readonly prepare?: () => Promise<Record<string, string>>;
    readonly viewOf: (response: never) => Value;
  }
  const limitsOf = ({ organization }: { organization: { limits: Value } }) => organization.limits;
  const ceilingsOf = ({ organization }: { organization: { ceilings: Value } }) => organization.ceilings;
  const rulesOf = ({ organization }: { organization: { target_rules: Value } }) => organization.target_rules;

  const cases: readonly (readonly [string, Case])[] = [
    [
      'an organization',
      {
        endpoint: organizations.update,
        viewOf: ({ organization }: { organization: Value }) => organization,
      },
    ],
    ['limits', { endpoint: organizations.setLimits, viewOf: limitsOf }],
    ['ceilings', { endpoint: organizations.setCeilings, viewOf: ceilingsOf }],
    ['target rules', { endpoint: organizations.setTargetRules, viewOf: rulesOf }],
    [
      'usage tags',
      {
        endpoint: organizations.setUsageTags,
        viewOf: ({ organization }: { organization: Value }) => organization,
      },
    ],
    [
      'a project',
      {
        endpoint: projects.update,
        prepare: async () => ({ project_id: (await fixture.project(organizationId)).id }),
        viewOf: ({ project }: { project: Value }) => project,
      },
    ],
    [
      'a key',
      {
        endpoint: keys.update,
        prepare: async () => ({ key_id: (await fixture.key(organizationId)).id }),
        viewOf: ({ key }: { key: Value }) => key,
      },
    ],
  ];

  describe.each(cases)('of %s', (_name, { endpoint, prepare, viewOf }) => {
    const fields = Object.keys((endpoint.body as z.ZodObject).shape).filter(
      (field) => !OTHERS.includes(field),
    );
    const bodyOf = (index: 0 | 1, names = fields) =>
      Object.fromEntries(names.map((field) => [field, CHANGES[field]?.[index]]));
    /** As responses show it: an empty list for none. */
    const shownOf = (index: 0 | 1, names = fields) =>
      Object.fromEntries(
        names.map((field) => {
          const value = CHANGES[field]?.[index];
          const isList = Array.isArray(CHANGES[field]?.[0]) && field !== 'allowed_models';
          return [field, value === null && isList ? [] : value];
        }),
      );

    it('keeps the others, removes by null, and loses no concurrent change', async () => {
      expect(Object.keys(CHANGES)).toEqual(expect.arrayContaining(fields));
      const params = { ...inOrganization(), ...(await prepare?.()) };
      const change = async (body: Value) =>
        viewOf((await fixture.endpoints.call(endpoint, { params, body } as never)) as never);
      expect(await change(bodyOf(0))).toMatchObject(shownOf(0));
      for (const field of fields) {
        const changed = await change(bodyOf(1, [field]));
        expect(changed).toMatchObject({ ...shownOf(0), ...shownOf(1, [field]) });
        await change(bodyOf(0, [field]));
      }
      await Promise.all(fields.map((field) => change(bodyOf(1, [field]))));
      expect(await change({})).toMatchObject(shownOf(1));
    });
  });

  it('is checked against the fields that it keeps', async () => {
    await fixture.setCeilings(organizationId, { requestsPerMinute: 50 });
    const change = fixture.endpoints.call(organizations.setLimits, {
      params: inOrganization(),
      body: { requests_per_minute: 51 },
    });
    await expect(change).rejects.toMatchObject({ code: 'invalid', param: 'requests_per_minute' });
    expect((await readOrganization()).ceilings.requests_per_minute).toBe(50);
  });

  it('of the defaults makes a new organization', async () => {
    const { organization: fresh } = await fixture.endpoints.call(organizations.create, {
      body: { name: 'Fresh' },
    });
    const { organization } = await fixture.endpoints.call(organizations.create, {
      body: { name: 'Some', limits: { concurrency: null }, ceilings: { max_output_tokens: 100 } },
    });
    expect(organization.limits).toEqual({ ...fresh.limits, concurrency: null, max_output_tokens: 100 });
    expect(organization.ceilings).toEqual({ ...fresh.ceilings, max_output_tokens: 100 });
    expect(fresh.limits).not.toEqual(limitsBody({}));
  });
});
