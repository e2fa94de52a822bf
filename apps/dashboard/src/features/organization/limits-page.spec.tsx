/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { modelWith, ORGANIZATION, sessionOf, modelList } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const READ = 'GET /api/organizations/{organization_id}';
const SET_LIMITS = 'PUT /api/organizations/{organization_id}/limits';
const SET_ELASTIC_HOLDS = 'PUT /api/organizations/{organization_id}/elastic-holds';
const SET_CEILINGS = 'PUT /api/organizations/{organization_id}/ceilings';
const CAPPED = {
  ...ORGANIZATION,
  limits: { ...ORGANIZATION.limits, concurrency: null },
  ceilings: {
    ...ORGANIZATION.ceilings,
    requests_per_minute: 900,
    concurrency: 32,
    daily_budget_usd: '30',
    total_budget_usd: '2000',
  },
};

describe('the limits page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('admin'));
    api.on('GET /api/organizations', () => ({ data: [CAPPED], next_page_token: null }));
    api.on(READ, () => ({ organization: CAPPED }));
  });
  afterEach(cleanup);

  const valueOf = (name: string) => screen.getByText(name).nextElementSibling?.textContent;
  const type = async (label: string, text: string) => {
    await userEvent.clear(screen.getByLabelText(label));
    await userEvent.type(screen.getByLabelText(label), text);
  };
  const save = () => userEvent.click(screen.getByRole('button', { name: 'Save' }));

  it('shows each limit with its ceiling, and the ceiling where there is no limit', async () => {
    renderPage('/o/org-1/limits');
    await screen.findByRole('button', { name: 'Edit' });
    expect(valueOf('Requests per minute')).toBe('600 (ceiling 900)');
    expect(valueOf('Concurrent requests')).toBe('32 (the ceiling)');
    expect(valueOf('Tokens per minute')).toBe('1,000,000');
    expect(valueOf('Daily budget')).toBe('$25.00 (ceiling $30.00). Resets at 00:00 UTC.');
    expect(valueOf('Monthly budget')).toBe('$500.00. Resets on the 1st at 00:00 UTC.');
    expect(valueOf('Total budget')).toBe('$2,000.00 (the ceiling). Never resets.');
    expect(valueOf('Multiple completions')).toBe('Not allowed (an operator can allow them)');
    expect(screen.queryByRole('button', { name: 'Change ceilings' })).toBeNull();
  });

  it('shows how much of each budget is spent and held, and by how much one is exceeded', async () => {
    const spend = {
      today_usd: '27.5',
      this_week_usd: '120',
      this_month_usd: '120',
      total_usd: '120',
      held_usd: '0.5',
    };
    api.on('GET /api/organizations/{organization_id}/budget-spend', () => ({
      spend,
      windows: [],
      models: [],
    }));
    renderPage('/o/org-1/limits');
    await screen.findByRole('meter', { name: 'Daily budget' });
    expect(valueOf('Daily budget')).toContain(
      '$27.50 spent (110%), $0.50 held by running requests, $3.00 over.',
    );
    expect(valueOf('Monthly budget')).toContain('$120.00 spent (24%)');
    expect(valueOf('Monthly budget')).toContain('$379.50 left.');
  });

  it('sets budgets of a rolling window and of models, and shows what counts against them', async () => {
    renderPage('/o/org-1/limits');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    await userEvent.click(screen.getByRole('button', { name: 'Add budget' }));
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByText('Enter an amount above 0.')).toBeTruthy();
    await type('Amount of budget 1 (USD)', '12.5');
    await type('Hours of budget 1', '745');
    expect(await screen.findByText('Enter 1 to 744 hours.')).toBeTruthy();
    await type('Hours of budget 1', '5');
    await userEvent.click(screen.getByRole('button', { name: 'Add budget' }));
    const counted = screen.getByLabelText('What counts against budget 2');
    expect([...counted.querySelectorAll('option')].map(({ value }) => value)).toEqual(['all', 'model']);
    await userEvent.selectOptions(counted, 'model');
    await userEvent.selectOptions(screen.getByLabelText('Period of budget 2'), 'month');
    await type('Amount of budget 2 (USD)', '20');
    expect(await screen.findByText('Enter the ID of a model, or its start and an asterisk.')).toBeTruthy();
    await type('Models of budget 2', 'acme/*');
    const budgets = [
      { period: 'window' as const, hours: 5, amount_usd: '12.5' },
      { period: 'month' as const, hours: 0, model: 'acme/*', amount_usd: '20' },
    ];
    const ofModels = { period: 'window' as const, hours: 5, model: 'acme/*', amount_usd: '6' };
    const changed = { ...CAPPED, limits: { ...CAPPED.limits, budgets: [...budgets, ofModels] } };
    api.on(SET_LIMITS, () => ({ organization: changed }));
    const spend = {
      ...{ today_usd: '1', this_week_usd: '1', this_month_usd: '1', total_usd: '1', held_usd: '0' },
    };
    api.on(READ, () => ({ organization: changed }));
    api.on('GET /api/organizations/{organization_id}/budget-spend', () => ({
      ...{ spend, windows: [{ hours: 5, spent_usd: '2.5', held_usd: '0' }] },
      models: [{ ...spend, model: 'acme/*', windows: [{ hours: 5, spent_usd: '3', held_usd: '0' }] }],
    }));
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(api.requestsTo(SET_LIMITS)[0]?.body).toMatchObject({ budgets }));
    await screen.findByRole('meter', { name: '5-hour budget: All keys together' });
    expect(valueOf('5-hour budget')).toContain(
      '$2.50 spent (20%), $10.00 left.Counts the current UTC hour and the 4 before it.',
    );
    expect(valueOf('5-hour budget for acme/*')).toContain('$3.00 spent (50%), $3.00 left.');
    expect(valueOf('Monthly budget for acme/*')).toContain(
      '$1.00 spent (5%), $19.00 left.Resets on the 1st at 00:00 UTC.',
    );
  });

  it('accepts limits up to the ceilings, and no multiple completions unless an operator allows them', async () => {
    renderPage('/o/org-1/limits');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
    expect(screen.getByRole<HTMLInputElement>('checkbox').disabled).toBe(true);
    await type('Requests per minute', '901');
    await type('Daily budget (USD)', '30.01');
    await type('Total budget (USD)', '2000.000000001');
    expect(screen.getAllByText('Above the ceiling.')).toHaveLength(3);
    await save();
    expect(api.requestsTo(SET_LIMITS)).toEqual([]);
    await type('Requests per minute', '900');
    await type('Daily budget (USD)', '30');
    await type('Monthly budget (USD)', '600');
    await type('Total budget (USD)', '2000');
    api.on(SET_LIMITS, () => ({ organization: CAPPED }));
    await save();
    await waitFor(() =>
      expect(api.requestsTo(SET_LIMITS)[0]?.body).toMatchObject({
        requests_per_minute: 900,
        daily_budget_usd: '30',
        weekly_budget_usd: null,
        monthly_budget_usd: '600',
        total_budget_usd: '2000',
        concurrency: null,
        version: 3,
      }),
    );
  });

  it('renames the organization, and names the operators’ contact', async () => {
    const rename = 'PATCH /api/organizations/{organization_id}';
    const signInOptions = { oidc: null, password_reset_by_email: false };
    api.on('GET /api/sign-in-options', () => ({ ...signInOptions, operator_contact: 'ops@example.com' }));
    renderPage('/o/org-1/limits');
    const contact = await screen.findByRole<HTMLAnchorElement>('link', { name: 'ops@example.com' });
    expect(contact.getAttribute('href')).toBe('mailto:ops@example.com');
    await userEvent.click(screen.getByRole('button', { name: 'Rename' }));
    await type('Name', '  ');
    await save();
    await screen.findByText('Enter a name.');
    await type('Name', 'New name');
    api.on(rename, () => ({ organization: { ...CAPPED, name: 'New name' } }));
    await save();
    await screen.findByText('New name');
    expect(api.requestsTo(rename)).toMatchObject([{ body: { name: 'New name', version: 3 } }]);
  });

  it('turns elastic holds on and off', async () => {
    const organization = { ...CAPPED, elastic_holds: true };
    api.on(SET_ELASTIC_HOLDS, () => ({ organization }));
    renderPage('/o/org-1/limits');
    await userEvent.click(await screen.findByRole('button', { name: 'Turn on' }));
    expect(api.requestsTo(SET_ELASTIC_HOLDS)).toEqual([]);
    const dialog = within(await screen.findByRole('dialog', { name: 'Turn on elastic holds?' }));
    await userEvent.click(dialog.getByRole('button', { name: 'Turn on' }));
    await screen.findByRole('button', { name: 'Turn off' });
    expect(api.requestsTo(SET_ELASTIC_HOLDS)[0]?.body).toEqual({ enabled: true });
  });

  it('shows members whether holds are elastic, and no button', async () => {
    api.on('GET /api/session', () => sessionOf('member'));
    renderPage('/o/org-1/limits');
    await screen.findByText('Elastic holds');
    expect(screen.queryByRole('button', { name: 'Turn on' })).toBeNull();
  });

  it('lets operators change ceilings, and names the limits that a lower ceiling lowers', async () => {
    api.on('GET /api/session', () => sessionOf('operator'));
    renderPage('/o/org-1/limits');
    await userEvent.click(await screen.findByRole('button', { name: 'Change ceilings' }));
    await type('Requests per minute', '300');
    await type('Daily budget (USD)', '20');
    await type('Monthly budget (USD)', '400');
    await screen.findByText(/Lowers the limit, which is 600\.$/);
    await screen.findByText('Resets on the 1st at 00:00 UTC. Lowers the limit, which is $500.00.');
    await screen.findByText('Resets at 00:00 UTC. Lowers the limit, which is $25.00.');
    await userEvent.click(screen.getByRole('checkbox'));
    api.on(SET_CEILINGS, () => ({ organization: CAPPED }));
    await save();
    await waitFor(() =>
      expect(api.requestsTo(SET_CEILINGS)[0]?.body).toEqual({
        requests_per_minute: 300,
        tokens_per_minute: null,
        daily_budget_usd: '20',
        weekly_budget_usd: null,
        monthly_budget_usd: '400',
        total_budget_usd: '2000',
        concurrency: 32,
        max_output_tokens: null,
        multiple_completions: true,
        version: 3,
      }),
    );
  });

  it('changes the lists of providers and regions, names those of the models, and warns of others', async () => {
    api.on('GET /api/models', () => modelList([modelWith('acme/m-1')]));
    renderPage('/o/org-1/limits');
    await userEvent.click(await screen.findByRole('button', { name: 'Change providers and regions' }));
    await screen.findByText('In the catalogue: eu. A provider without a region is excluded.');
    await type('Denied providers', 'ACME, Other, other-2');
    await type('Allowed regions', ' eu ');
    expect(screen.getAllByText(/^No available model uses/).map(({ textContent }) => textContent)).toEqual([
      'No available model uses: Other, other-2.',
    ]);
    const SET = 'PUT /api/organizations/{organization_id}/target-rules';
    const rules = { ...CAPPED.target_rules, allowed_regions: ['eu'] };
    api.on(SET, () => ({ organization: { ...CAPPED, target_rules: rules } }));
    await save();
    await waitFor(() => expect(valueOf('Allowed regions')).toBe('eu'));
    expect(api.requestsTo(SET)[0]?.body).toEqual({
      allowed_providers: [],
      denied_providers: ['ACME', 'Other', 'other-2'],
      allowed_regions: ['eu'],
      denied_regions: [],
      version: 3,
    });
  });

  it('does not let members change the lists of providers and regions', async () => {
    api.on('GET /api/session', () => sessionOf('member'));
    renderPage('/o/org-1/limits');
    await screen.findByText('Denied regions');
    expect(screen.queryByRole('button', { name: 'Change providers and regions' })).toBeNull();
  });

  it('changes the usage tags, and shows them', async () => {
    renderPage('/o/org-1/limits');
    await userEvent.click(await screen.findByRole('button', { name: 'Change usage tags' }));
    await type('Tags', 'customer_id, team');
    const SET = 'PUT /api/organizations/{organization_id}/usage-tags';
    api.on(SET, () => ({ organization: { ...CAPPED, usage_tags: ['customer_id', 'team'] } }));
    await save();
    await waitFor(() => expect(valueOf('Tags')).toBe('customer_id, team'));
    expect(api.requestsTo(SET)[0]?.body).toEqual({ usage_tags: ['customer_id', 'team'], version: 3 });
  });
});
