import type { Page } from './chromium';
import { field } from './field';

/** Every page of the dashboard by its name and path, for the tests and screenshots that cover all of them. */
export interface Screen {
  readonly name: string;
  readonly path: string;
  readonly signedOut?: boolean;
  /** Actions on the page before it is checked. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export interface ScreenIds {
  readonly organizationId: string;
  /** An organization without any history. */
  readonly emptyId: string;
  readonly keyId: string;
  readonly projectId: string;
  readonly generationId: string;
}

export function screens(ids: ScreenIds): readonly Screen[] {
  return [...pages(ids), ...emptyPages(ids), ...states(ids)];
}

function pages({ organizationId, keyId, projectId, generationId }: ScreenIds): readonly Screen[] {
  const inOrganization = (name: string, path: string): Screen => ({
    name,
    path: `/o/${organizationId}${path}`,
  });
  return [
    { name: 'sign-in', path: '/sign-in', signedOut: true },
    { name: 'forgot-password', path: '/forgot-password', signedOut: true },
    { name: 'reset-password', path: '/reset-password#token', signedOut: true },
    { name: 'invitation', path: '/invitation#token', signedOut: true },
    inOrganization('overview', ''),
    inOrganization('keys', '/keys'),
    inOrganization('new-key', '/keys/new'),
    inOrganization('key', `/keys/${keyId}`),
    inOrganization('usage', '/usage?range=7d'),
    inOrganization('generations', '/generations'),
    inOrganization('generation', `/generations/${generationId}`),
    inOrganization('credit', '/credit'),
    inOrganization('playground', '/playground'),
    inOrganization('offered-models', '/models'),
    inOrganization('projects', '/projects'),
    inOrganization('project', `/projects/${projectId}`),
    inOrganization('limits', '/limits'),
    inOrganization('content-log', '/content-log'),
    inOrganization('members', '/members'),
    inOrganization('management-tokens', '/management-tokens'),
    inOrganization('audit', '/audit'),
    { name: 'account', path: '/account' },
    { name: 'welcome', path: '/welcome' },
    { name: 'operator-organizations', path: '/operator/organizations' },
    { name: 'operator-usage', path: '/operator/usage' },
    { name: 'operator-catalogue-models', path: '/operator/catalogue' },
    { name: 'operator-catalogue-providers', path: '/operator/catalogue?tab=providers' },
    { name: 'operator-catalogue-yaml', path: '/operator/catalogue?tab=yaml' },
    { name: 'operator-catalogue-history', path: '/operator/catalogue?tab=history' },
    { name: 'operator-settlement', path: '/operator/settlement' },
    { name: 'operator-notifications', path: '/operator/notifications' },
    { name: 'operator-people', path: '/operator/people' },
    { name: 'operator-management-tokens', path: '/operator/management-tokens' },
    { name: 'operator-audit', path: '/operator/audit' },
    { name: 'not-found', path: '/nothing-is-here' },
  ];
}

function emptyPages({ emptyId }: ScreenIds): readonly Screen[] {
  return [
    'overview',
    'keys',
    'usage',
    'generations',
    'credit',
    'projects',
    'members',
    'management-tokens',
  ].map((page) => ({
    name: `empty-${page}`,
    path: `/o/${emptyId}${page === 'overview' ? '' : `/${page}`}`,
  }));
}

/** An error response of the API. */
function errorResponse(status: number, error: { code: string; type: string; message: string }) {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': 'req_01KAEXAMPLE' },
    body: JSON.stringify({ error: { ...error, metadata: {} } }),
  };
}

/** Pages after an action or in an error state. */
function states({ organizationId, emptyId, keyId }: ScreenIds): readonly Screen[] {
  const path = `/o/${organizationId}`;
  const dialog = (name: string, at: string, button: string): Screen => ({
    name: `dialog-${name}`,
    path: path + at,
    prepare: async (page) => {
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await page.getByRole('dialog').waitFor();
    },
  });
  return [
    dialog('add-credit', '/credit', 'Add credit'),
    dialog('credit-alert', '/credit', 'Edit'),
    dialog('create-management-token', '/management-tokens', 'Create token'),
    dialog('create-project', '/projects', 'Create project'),
    dialog('invite', '/members', 'Invite member'),
    dialog('revoke', `/keys/${keyId}`, 'Revoke'),
    dialog('rotate', `/keys/${keyId}`, 'Rotate'),
    {
      name: 'dialog-sign-in-again',
      path: `${path}/limits`,
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Edit', exact: true }).click();
        await page.route('**/api/organizations/*/limits', (route) =>
          route.fulfill(
            errorResponse(401, {
              code: 'not_signed_in',
              type: 'authentication_error',
              message: 'Sign in first.',
            }),
          ),
        );
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
      },
    },
    {
      name: 'edit-key',
      path: `${path}/keys/${keyId}`,
      prepare: (page) => page.getByRole('button', { name: 'Edit', exact: true }).click(),
    },
    {
      name: 'edit-limits',
      path: `${path}/limits`,
      prepare: (page) => page.getByRole('button', { name: 'Edit', exact: true }).click(),
    },
    {
      name: 'first-credit',
      path: '/welcome',
      prepare: async (page) => {
        await page.evaluate(`localStorage.setItem('last-organization', ${JSON.stringify(emptyId)})`);
        await page.reload();
        await field(page, 'Amount').waitFor();
      },
    },
    {
      name: 'failed',
      path: `${path}/keys`,
      prepare: async (page) => {
        await page.route('**/api/organizations/*/keys?*', (route) =>
          route.fulfill(
            errorResponse(503, {
              code: 'unavailable',
              type: 'service_unavailable_error',
              message: 'The service is not available right now. Try again.',
            }),
          ),
        );
        await page.reload();
        await page.getByText('Couldn’t load keys').waitFor();
      },
    },
    {
      name: 'playground-response',
      path: `${path}/playground?model=demo/standard`,
      prepare: async (page) => {
        await field(page, 'Message').fill('What does a gateway do? [[tokens:60]]');
        await page.getByText(/^Max \$/).waitFor();
        await page.getByRole('button', { name: 'Send' }).click();
        await page.getByRole('link', { name: 'Details' }).waitFor();
        await field(page, 'Message').fill('And what does it cost?');
        await page.getByText(/^Max \$/).waitFor();
      },
    },
    {
      name: 'playground-code',
      path: `${path}/playground`,
      prepare: (page) => page.getByRole('button', { name: 'Code', exact: true }).click(),
    },
    {
      name: 'palette',
      path,
      prepare: async (page) => {
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox').waitFor();
      },
    },
    {
      name: 'generations-nothing-found',
      path: `${path}/generations?user=unknown`,
    },
    { name: 'generations-refused', path: `${path}/generations?status=refused` },
    { name: 'usage-refused', path: `${path}/usage?range=24h&measure=refused` },
    { name: 'credit-credits', path: `${path}/credit?view=credits` },
    { name: 'credit-transactions', path: `${path}/credit?view=all` },
    { name: 'usage-latency', path: `${path}/usage?measure=p95` },
    {
      ...dialog('add-provider', '', 'Add provider'),
      path: '/operator/catalogue?tab=providers',
    },
    {
      ...dialog('edit-model', '', 'Edit demo/small'),
      path: '/operator/catalogue',
    },
    {
      name: 'dialog-drain',
      path: '/operator/catalogue?tab=providers',
      prepare: async (page) => {
        await page
          .getByRole('button', { name: /^Drain / })
          .first()
          .click();
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      name: 'audit-of-a-key',
      path: `${path}/audit?target=${keyId}`,
    },
  ];
}
