/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../../testing/api-double';
import { operatorModel, PUBLISHED_CATALOGUE, sessionOf } from '../../../testing/fixtures';
import { renderPage } from '../../../testing/render-page';
import type { CatalogueState } from './catalogue-state';

const TIME = '2026-11-20T09:00:00.000Z';
const version = (number: number) => ({
  version: number,
  published_at: TIME,
  published_by: 'ops@example.com',
  comment: `Change ${number}`,
  restored_version: null,
});
const STATE: CatalogueState = {
  source: 'database',
  text: 'text in effect',
  version: version(3),
  draft: null,
  secrets: [
    { name: 'openai', hint: '7f3a', changed_at: TIME, changed_by: 'ops@example.com', used: true },
    { name: 'old', hint: '', changed_at: TIME, changed_by: 'ops@example.com', used: false },
  ],
  routers: [
    { name: 'router-1', version: 3, loaded_at: TIME, reported_at: TIME, rejected_version: null },
    { name: 'router-2', version: 2, loaded_at: TIME, reported_at: TIME, rejected_version: 3 },
  ],
};
const DRAFT = { revision: 7, text: 'a draft', saved_at: TIME, saved_by: 'other@example.com' };
const PRICE_CHANGE = {
  kind: 'model' as const,
  name: 'acme/m-1',
  change: 'changed' as const,
  fields: [{ field: 'prices.input', before: '1', after: '2' }],
};

const TARGETS = [
  { provider: 'acme', model: 'm-1' },
  { provider: 'b', model: 'm' },
];
const HEALTH = {
  ...{ window_ms: 300_000, observed_at: TIME, instance: 'router-1' },
  ...{ providers: [], targets: [] },
};

describe('the catalogue page', () => {
  let api: ApiDouble;
  let state: CatalogueState;

  beforeEach(() => {
    api = installApiDouble();
    state = STATE;
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/operator/catalogue/state', () => state);
    api.on('GET /api/operator/catalogue', () => ({ catalogue: PUBLISHED_CATALOGUE }));
    api.on('GET /api/operator/providers', () => ({ health: HEALTH }));
    api.on('POST /api/operator/catalogue/entries', () => ({
      ...{ providers: [], schema: {} },
      models: [{ id: 'acme/m-1', targets: TARGETS }],
    }));
    api.on('GET /api/operator/catalogue/versions', () => ({
      data: [version(3), version(2)],
      next_page_token: null,
    }));
  });
  afterEach(cleanup);

  const editor = async () => (await screen.findByLabelText('Catalogue text')) as HTMLTextAreaElement;
  const clickWhenReady = async (name: string) => {
    const button = await screen.findByRole('button', { name });
    await waitFor(() => expect(button).toHaveProperty('disabled', false));
    await userEvent.click(button);
  };
  const click = (name: string | RegExp) => userEvent.click(screen.getByRole('button', { name }));

  it('is read-only for a file, and says why', async () => {
    state = { ...STATE, source: 'file', version: null, secrets: [], routers: [] };
    renderPage('/operator/catalogue?tab=yaml');
    expect(await screen.findByText('Read-only: the catalogue is the models file')).toBeTruthy();
    expect(screen.getByText('text in effect')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Save draft' })).toBeNull();
    expect(screen.queryByLabelText('Catalogue text')).toBeNull();
  });

  it('shows which version each router runs, and which one it cannot load', async () => {
    renderPage('/operator/catalogue?tab=history');
    const routers = await screen.findByRole('table', { name: 'Routers' });
    expect(within(routers).getAllByRole('row')).toHaveLength(3);
    expect(within(routers).getByText('Cannot load version 3')).toBeTruthy();
    const versions = await screen.findByRole('table', { name: 'Versions' });
    const inEffect = within(versions).getByText('In effect').closest('tr') as HTMLElement;
    expect(within(inEffect).getByText('Change 3')).toBeTruthy();
  });

  it('shows the errors of a text by line', async () => {
    api.on('POST /api/operator/catalogue/check', () => ({
      issues: [{ message: 'models[0].prices.input (line 31): must be a decimal', line: 31 }],
      changes: [],
      affected: [],
    }));
    renderPage('/operator/catalogue?tab=yaml');
    await userEvent.type(await editor(), ' changed');
    await click('Check');
    expect(await screen.findByText('Line 31')).toBeTruthy();
    const [request] = api.requestsTo('POST /api/operator/catalogue/check');
    expect(request?.body).toEqual({ text: 'text in effect changed' });
  });

  it('saves an edited text on its revision when it is published, and shows its changes first', async () => {
    api.on('PUT /api/operator/catalogue/draft', () => {
      state = { ...STATE, draft: { ...DRAFT, text: 'text in effect changed' } };
      return { draft: { ...DRAFT, text: 'text in effect changed' } };
    });
    api.on('POST /api/operator/catalogue/check', () => ({
      issues: [],
      changes: [PRICE_CHANGE],
      affected: [{ model: 'acme/m-1', organizations: 2, keys: 3, requests: 40 }],
    }));
    api.on('POST /api/operator/catalogue/publish', () => {
      state = { ...STATE, text: 'text in effect changed', version: version(4) };
      return { version: version(4) };
    });
    renderPage('/operator/catalogue?tab=yaml');
    await screen.findByRole('button', { name: 'Publish' });
    expect(screen.getByRole('button', { name: 'Publish' })).toHaveProperty('disabled', true);
    await userEvent.type(await editor(), ' changed');
    await click('Publish');
    const dialog = await screen.findByRole('dialog', { name: 'Publish the draft' });
    const changes = await within(dialog).findByRole('list', { name: 'Changes' });
    expect(changes.textContent).toContain('acme/m-1');
    expect(changes.textContent).toContain('prices.input: 1 → 2');
    expect(within(dialog).getByRole('list', { name: 'Affected' }).textContent).toBe(
      'acme/m-1: 40 requests of 2 organizations, with 3 keys',
    );
    await userEvent.type(within(dialog).getByLabelText('Comment'), 'Dearer.');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Publish' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(api.requestsTo('PUT /api/operator/catalogue/draft')[0]?.body).toEqual({
      text: 'text in effect changed',
      expected_revision: 0,
    });
    expect(api.requestsTo('POST /api/operator/catalogue/publish')[0]?.body).toEqual({
      draft_revision: 7,
      expected_version: 3,
      comment: 'Dearer.',
    });
    expect(screen.queryByText('Someone else changed the catalogue')).toBeNull();
    expect((await editor()).value).toBe('text in effect changed');
  });

  it('keeps an edited draft on every tab, and confirms before another page', async () => {
    renderPage('/operator/catalogue?tab=yaml');
    await userEvent.type(await editor(), ' changed');
    for (const tab of ['Models', 'History', 'Providers', 'YAML'])
      await userEvent.click(screen.getByRole('link', { name: tab }));
    expect((await editor()).value).toBe('text in effect changed');
    expect(screen.getByText('Draft, not saved')).toBeTruthy();
    const tabs = within(screen.getByRole('navigation', { name: 'Catalogue' }));
    expect(tabs.getAllByRole('link', { current: 'page' }).map(({ textContent }) => textContent)).toEqual([
      'YAML',
    ]);
    await userEvent.click(screen.getByRole('link', { name: 'Settlement' }));
    expect(await screen.findByRole('dialog', { name: 'Leave without saving?' })).toBeTruthy();
  });

  it('shows what the draft adds, changes and removes next to what is in effect', async () => {
    state = { ...STATE, draft: DRAFT };
    api.on('GET /api/operator/catalogue', () => ({
      catalogue: { ...PUBLISHED_CATALOGUE, models: [operatorModel('acme/m-1'), operatorModel('acme/m-2')] },
    }));
    api.on('POST /api/operator/catalogue/entries', ({ body }) => ({
      ...{ providers: [], schema: {} },
      models:
        (body as { text: string }).text === DRAFT.text
          ? [{ id: 'acme/m-1', context_window: 2 }, { id: 'acme/m-3' }]
          : [{ id: 'acme/m-1', context_window: 1 }, { id: 'acme/m-2' }],
    }));
    renderPage('/operator/catalogue');
    const rowOf = (id: string) =>
      within(screen.getByText(id, { selector: '.font-medium' }).closest('tr') as HTMLElement);
    await screen.findByRole('button', { name: 'Edit acme/m-3' });
    expect(rowOf('acme/m-1').getByText('Changed in the draft')).toBeTruthy();
    expect(rowOf('acme/m-2').getByText('Removed in the draft')).toBeTruthy();
    expect(rowOf('acme/m-2').queryByRole('button', { name: /^Edit/ })).toBeNull();
    expect(rowOf('acme/m-3').getByText('New in the draft')).toBeTruthy();
  });

  it('keeps the edits when another operator saved a draft, and replaces neither without a choice', async () => {
    renderPage('/operator/catalogue?tab=yaml');
    await userEvent.type(await editor(), ' mine');
    api.refuse('PUT /api/operator/catalogue/draft', 409, {
      code: 'conflict',
      message: 'The draft was changed in the meantime.',
    });
    state = { ...STATE, draft: DRAFT };
    await click('Save draft');
    expect(await screen.findByText('The draft was changed in the meantime.')).toBeTruthy();
    expect(await screen.findByText('Someone else changed the catalogue')).toBeTruthy();
    expect((await editor()).value).toBe('text in effect mine');
    await click('Discard my changes');
    expect((await editor()).value).toBe('a draft');
  });

  it('shows the real error of a tested target', async () => {
    api.on('POST /api/operator/catalogue/test', () => ({
      test: { duration_ms: 120, error: 'acme: HTTP 401 from https://acme.example: Incorrect API key' },
    }));
    renderPage('/operator/catalogue');
    await clickWhenReady('Test a model');
    await userEvent.selectOptions(await screen.findByLabelText('Target'), 'acme/m-1 → b/m');
    await click('Request one token');
    expect(await screen.findByText(/Incorrect API key/)).toBeTruthy();
    expect(api.requestsTo('POST /api/operator/catalogue/test')[0]?.body).toEqual({
      text: 'text in effect',
      model: 'acme/m-1',
      target: 1,
    });
  });

  it('puts published prices with a margin into the editor without saving them', async () => {
    api.on('POST /api/operator/catalogue/proposals', () => ({
      text: 'text with prices',
      changed_models: ['acme/m-1'],
      notes: ['acme/own: not in the price data'],
      new_models: [],
    }));
    renderPage('/operator/catalogue');
    await clickWhenReady('Propose prices');
    const dialog = within(await screen.findByRole('dialog'));
    const margin = await dialog.findByLabelText('Margin on published prices (%)');
    await userEvent.clear(margin);
    await userEvent.type(margin, '12.5');
    await userEvent.click(dialog.getByRole('button', { name: 'Propose prices' }));
    expect(await dialog.findByText('acme/own: not in the price data')).toBeTruthy();
    await userEvent.click(dialog.getByRole('button', { name: 'Close' }));
    await userEvent.click(screen.getByRole('link', { name: 'YAML' }));
    expect((await editor()).value).toBe('text with prices');
    expect(api.requestsTo('POST /api/operator/catalogue/proposals')[0]?.body).toEqual({
      text: 'text in effect',
      margin_percent: 12.5,
    });
    expect(api.requestsTo('PUT /api/operator/catalogue/draft')).toEqual([]);
  });

  it('replaces a secret without showing it, and deletes only one that is not used', async () => {
    api.on('PUT /api/operator/catalogue/secrets', () => ({ secret: STATE.secrets[0] as never }));
    api.on('DELETE /api/operator/catalogue/secrets/{secret_name}', () => undefined as never);
    renderPage('/operator/catalogue?tab=providers');
    await screen.findByRole('table', { name: 'Stored secrets' });
    expect(screen.getByText('…7f3a')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Delete openai' })).toBeNull();
    await click('Replace openai');
    const dialog = await screen.findByRole('dialog', { name: 'Replace openai' });
    const value = within(dialog).getByLabelText('Value');
    expect(value.getAttribute('type')).toBe('password');
    await userEvent.type(value, 'sk-new');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Store' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(api.requestsTo('PUT /api/operator/catalogue/secrets')[0]?.body).toEqual({
      name: 'openai',
      value: 'sk-new',
    });
    await click('Delete old');
    await click('Delete secret');
    await waitFor(() =>
      expect(api.requestsTo('DELETE /api/operator/catalogue/secrets/{secret_name}')[0]?.params).toEqual({
        secret_name: 'old',
      }),
    );
  });

  it('shows what an earlier version changes and whom it affects, then rolls back to it', async () => {
    api.on('GET /api/operator/catalogue/versions/{version}', () => ({
      ...{ version: version(2), text: 'text of version 2', changes: [] },
    }));
    api.on('POST /api/operator/catalogue/check', () => ({
      issues: [],
      changes: [PRICE_CHANGE],
      affected: [{ model: 'acme/m-1', organizations: 2, keys: 3, requests: 40 }],
    }));
    api.on('POST /api/operator/catalogue/roll-back', () => ({ version: version(4) }));
    renderPage('/operator/catalogue?tab=history');
    await screen.findByRole('table', { name: 'Versions' });
    expect(screen.queryByRole('button', { name: 'Roll back to version 3' })).toBeNull();
    await click('Roll back to version 2');
    const dialog = await screen.findByRole('dialog', { name: 'Roll back to version 2' });
    const affected = await within(dialog).findByRole('list', { name: 'Affected' });
    expect(affected.textContent).toBe('acme/m-1: 40 requests of 2 organizations, with 3 keys');
    expect(api.requestsTo('POST /api/operator/catalogue/check')[0]?.body).toEqual({
      text: 'text of version 2',
    });
    await userEvent.type(within(dialog).getByLabelText('Comment'), 'A mistake.');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Roll back' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(api.requestsTo('POST /api/operator/catalogue/roll-back')[0]?.body).toEqual({
      version: 2,
      expected_version: 3,
      comment: 'A mistake.',
    });
  });
});
