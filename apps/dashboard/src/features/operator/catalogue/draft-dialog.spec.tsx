/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../../testing/api-double';
import { PUBLISHED_CATALOGUE, sessionOf } from '../../../testing/fixtures';
import { renderPage } from '../../../testing/render-page';

const TEXT = 'the text';
const EDITED = 'the edited text';
const MODEL = {
  id: 'acme/m-1',
  targets: [{ provider: 'acme', model: 'm-1' }],
  context_window: 100,
  prices: { input: '1', output: '2' },
  a_later_field: { kept: true },
};
const SECRET = {
  ...{ name: 'anthropic', hint: '', used: true },
  ...{ changed_at: '2026-01-01T00:00:00Z', changed_by: 'x' },
};
const SCHEMA = {
  properties: {
    providers: {
      items: {
        properties: {
          name: { type: 'string', description: 'Identifier for targets.' },
          preset: { type: 'string', enum: ['anthropic', 'openai'] },
          api_key_secret: { type: 'string' },
          headers: { type: 'object', additionalProperties: {}, default: {} },
          timeouts: {
            type: 'object',
            properties: { idle_ms: { type: 'integer', default: 60_000 } },
          },
          send_traceparent: { type: 'boolean', default: false, description: 'For your own servers.' },
        },
        required: ['name'],
      },
    },
    models: {
      items: {
        properties: {
          id: { type: 'string' },
          targets: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                provider: { type: 'string' },
                model: { type: 'string' },
                drops: { type: 'array', items: { type: 'string' } },
              },
              required: ['provider', 'model'],
            },
          },
          context_window: { type: 'integer' },
          capabilities: { type: 'array', items: { type: 'string', enum: ['tools', 'vision'] } },
          prices: {
            type: 'object',
            properties: { input: { type: 'string' }, output: { type: 'string' } },
            required: ['input', 'output'],
          },
        },
        required: ['id', 'targets', 'context_window', 'prices'],
      },
    },
  },
};

describe('the forms of the catalogue', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/operator/catalogue/versions', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/operator/catalogue/state', () => ({
      source: 'database' as const,
      text: TEXT,
      version: null,
      draft: null,
      secrets: [],
      routers: [],
    }));
    api.on('GET /api/operator/catalogue', () => ({ catalogue: PUBLISHED_CATALOGUE }));
    api.on('GET /api/operator/providers', () => ({
      health: {
        ...{ window_ms: 300_000, observed_at: SECRET.changed_at, instance: 'router-1' },
        ...{ providers: [], targets: [] },
      },
    }));
    api.on('POST /api/operator/catalogue/entries', () => ({
      providers: [{ name: 'acme', preset: 'openai', headers: { 'X-Team': 'blue' } }],
      models: [MODEL, { ...MODEL, id: 'acme/m-2' }],
      schema: SCHEMA,
    }));
    api.on('POST /api/operator/catalogue/entries/edit', () => ({ text: EDITED }));
    api.on('POST /api/operator/catalogue/check', () => ({ issues: [], changes: [], affected: [] }));
  });
  afterEach(cleanup);

  const open = async (name: string) => {
    const tab = /provider|acme$/.test(name) ? 'providers' : 'models';
    renderPage(`/operator/catalogue?tab=${tab}`);
    await userEvent.click(await screen.findByRole('button', { name }));
    return within(await screen.findByRole('dialog'));
  };
  const fill = async (form: ReturnType<typeof within>, label: string, value: string) => {
    const input = form.getByLabelText(label, { exact: false });
    await userEvent.clear(input);
    if (value !== '') await userEvent.type(input, value);
  };
  const apply = (form: ReturnType<typeof within>) =>
    userEvent.click(form.getByRole('button', { name: 'Apply to the draft' }));
  const edits = () => api.requestsTo('POST /api/operator/catalogue/entries/edit').map(({ body }) => body);
  const text = async () => {
    await userEvent.click(screen.getByRole('link', { name: 'YAML', hidden: true }));
    return ((await screen.findByLabelText('Catalogue text')) as HTMLTextAreaElement).value;
  };

  it('describes its fields', async () => {
    const form = await open('Edit acme');
    for (const [label, description] of [
      ['name', 'Identifier for targets.'],
      ['send_traceparent', 'For your own servers.'],
    ] as const) {
      const control = form.getByLabelText(label, { exact: false });
      const describedBy = control.getAttribute('aria-describedby') ?? '';
      expect(document.getElementById(describedBy)?.textContent).toBe(description);
    }
  });

  it('changes the fields of a model, keeps fields that it does not know, and saves nothing', async () => {
    const form = await open('Edit acme/m-1');
    await fill(form, 'prices.input', '3.5');
    await fill(form, 'context_window', '200');
    await userEvent.click(form.getByLabelText('vision'));
    await fill(form, 'targets[0].drops', 'top_k, seed');
    await apply(form);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(await text()).toBe(EDITED);
    expect(edits()).toEqual([
      {
        text: TEXT,
        kind: 'model',
        index: 0,
        entry: {
          ...MODEL,
          targets: [{ provider: 'acme', model: 'm-1', drops: ['top_k', 'seed'] }],
          context_window: 200,
          capabilities: ['vision'],
          prices: { input: '3.5', output: '2' },
        },
      },
    ]);
    expect(api.requestsTo('PUT /api/operator/catalogue/draft')).toEqual([]);
  });

  it('shows the messages of the models file at their fields, and applies errors only on request', async () => {
    api.on('POST /api/operator/catalogue/check', () => ({
      issues: [
        { message: 'models[1].prices.input (line 9): must be a decimal', line: 9 },
        { message: 'models[1] (line 7): Unrecognized key: "x"', line: 7 },
        { message: 'models[0].prices.input (line 4): of another model', line: 4 },
        { message: 'models[10].context_window (line 90): of another model', line: 90 },
      ],
      changes: [],
      affected: [],
    }));
    const form = await open('Edit acme/m-2');
    await fill(form, 'prices.input', 'x');
    await apply(form);
    const input = await form.findByLabelText('prices.input', { exact: false });
    await waitFor(() => expect(input.getAttribute('aria-invalid')).toBe('true'));
    expect(form.getByText('must be a decimal')).toBeTruthy();
    expect(form.getByText(/Unrecognized key/)).toBeTruthy();
    expect(form.queryByText(/of another model/)).toBeNull();
    expect(screen.queryByText('Draft, not saved')).toBeNull();
    await userEvent.click(form.getByRole('button', { name: 'Apply with errors' }));
    await waitFor(async () => expect(await text()).toBe(EDITED));
  });

  it('adds a provider with only the fields that are set', async () => {
    const short = await open('Add provider');
    await userEvent.click(short.getByRole('button', { name: 'Every field' }));
    const form = within(await screen.findByRole('dialog'));
    await fill(form, 'name', 'claude');
    await userEvent.selectOptions(form.getByLabelText('preset', { exact: false }), 'anthropic');
    await fill(form, 'api_key_secret', 'claude-key');
    await userEvent.click(form.getByText('timeouts'));
    await fill(form, 'timeouts.idle_ms', '9');
    await fill(form, 'timeouts.idle_ms', '');
    const headers = form.getByLabelText('headers', { exact: false });
    await userEvent.click(headers);
    await userEvent.paste('{"X-Key":{"secret":"team"}}');
    await userEvent.click(form.getByLabelText(/send_traceparent/));
    await apply(form);
    await waitFor(() => expect(edits()).toHaveLength(1));
    expect(edits()[0]).toEqual({
      text: TEXT,
      kind: 'provider',
      index: null,
      entry: {
        name: 'claude',
        preset: 'anthropic',
        api_key_secret: 'claude-key',
        headers: { 'X-Key': { secret: 'team' } },
        send_traceparent: true,
      },
    });
  });

  it('adds and removes targets', async () => {
    const form = await open('Edit acme/m-1');
    await userEvent.click(form.getByRole('button', { name: 'Add to targets' }));
    await fill(form, 'targets[1].provider', 'acme');
    await fill(form, 'targets[1].model', 'm-9');
    await userEvent.click(form.getByRole('button', { name: 'Remove targets[0]' }));
    await apply(form);
    await waitFor(() => expect(edits()).toHaveLength(1));
    expect(edits()[0]).toMatchObject({ entry: { targets: [{ provider: 'acme', model: 'm-9' }] } });
  });

  it('removes an entry from the text', async () => {
    renderPage('/operator/catalogue');
    await userEvent.click(await screen.findByRole('button', { name: 'Edit acme/m-2' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Remove from the draft' }));
    await waitFor(async () => expect(await text()).toBe(EDITED));
    expect(edits()).toEqual([{ text: TEXT, kind: 'model', index: 1, entry: null }]);
  });

  it('adds a provider by its service and API key, then a published model, tests it and publishes both', async () => {
    const entry = {
      id: 'anthropic/new',
      targets: [{ provider: 'anthropic', model: 'new' }],
      context_window: 1_000,
      prices: { input: '3.3', output: '5' },
    };
    api.on('PUT /api/operator/catalogue/secrets', () => ({ secret: SECRET }));
    api.on('POST /api/operator/catalogue/proposals', () => ({
      text: TEXT,
      changed_models: [],
      notes: [],
      new_models: [
        { provider: 'acme', model: 'other', entry: {} },
        { provider: 'anthropic', model: 'new', entry },
      ],
    }));
    api.on('POST /api/operator/catalogue/test', () => ({ test: { duration_ms: 80, error: null } }));
    api.on('PUT /api/operator/catalogue/draft', () => ({
      draft: { revision: 1, text: EDITED, saved_at: SECRET.changed_at, saved_by: 'x' },
    }));
    const provider = await open('Add provider');
    await userEvent.selectOptions(provider.getByLabelText('Service'), 'Anthropic');
    await userEvent.type(provider.getByLabelText('API key'), 'sk-ant-1');
    await userEvent.click(provider.getByRole('button', { name: 'Add provider' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Add a model' }));
    await userEvent.type(await dialog.findByRole('combobox', { name: 'Model' }), 'new');
    await dialog.findByRole('option', { name: 'anthropic/new · 3.3 / 5' });
    expect(dialog.queryByRole('option', { name: /other/ })).toBeNull();
    await userEvent.keyboard('{Enter}');
    await dialog.findByLabelText('prices.input', { exact: false });
    await apply(dialog);
    await dialog.findByText(/The provider responded after/);
    await userEvent.click(dialog.getByRole('button', { name: 'Publish' }));
    const publication = within(await screen.findByRole('dialog', { name: 'Publish the draft' }));
    const comment = (await publication.findByLabelText('Comment')) as HTMLInputElement;
    expect(comment.value).toBe('Add anthropic with anthropic/new.');
    expect(api.requestsTo('PUT /api/operator/catalogue/secrets')[0]?.body).toEqual({
      name: 'anthropic',
      value: 'sk-ant-1',
    });
    expect(edits().slice(1)).toEqual([
      {
        text: TEXT,
        kind: 'provider',
        index: null,
        entry: { name: 'anthropic', preset: 'anthropic', api_key_secret: 'anthropic' },
      },
      {
        text: EDITED,
        kind: 'model',
        index: null,
        entry: { ...entry, max_output_tokens: 1_000, capabilities: ['tools', 'json_mode'] },
      },
    ]);
    expect(api.requestsTo('POST /api/operator/catalogue/test')[0]?.body).toMatchObject({
      model: 'anthropic/new',
    });
  });

  it('stores the API key of a new provider under a free name, only while its check passes', async () => {
    api.on('GET /api/operator/catalogue/state', () => ({
      ...{ source: 'database' as const, text: TEXT, version: null, draft: null, routers: [] },
      secrets: [{ ...SECRET, name: 'acme' }],
    }));
    api.on('PUT /api/operator/catalogue/secrets', () => ({ secret: SECRET }));
    api.on('POST /api/operator/catalogue/check', () => ({
      issues: [{ message: 'providers[1].base_url (line 3): is required without a preset', line: 3 }],
      changes: [],
      affected: [],
    }));
    const form = await open('Add provider');
    await fill(form, 'Name', 'acme');
    await userEvent.type(form.getByLabelText('API key'), 'sk-1');
    await userEvent.click(form.getByRole('button', { name: 'Add provider' }));
    await form.findByText('is required without a preset');
    expect(api.requestsTo('PUT /api/operator/catalogue/secrets')).toEqual([]);
    const missing = 'providers[1].api_key_secret (line 4): acme-2 is missing or empty';
    api.on('POST /api/operator/catalogue/check', () => ({
      issues: [{ message: missing, line: 4 }],
      ...{ changes: [], affected: [] },
    }));
    api.on('DELETE /api/operator/catalogue/secrets/{secret_name}', () => undefined as never);
    await userEvent.click(form.getByRole('button', { name: 'Add provider' }));
    await form.findByText('acme-2 is missing or empty');
    expect(api.requestsTo('PUT /api/operator/catalogue/secrets').map(({ body }) => body)).toEqual([
      { name: 'acme-2', value: 'sk-1' },
    ]);
    expect(
      api.requestsTo('DELETE /api/operator/catalogue/secrets/{secret_name}').map(({ params }) => params),
    ).toEqual([{ secret_name: 'acme-2' }]);
  });

  it('shows the usual fields, and opens the others when one of them has an issue', async () => {
    api.on('POST /api/operator/catalogue/check', () => ({
      issues: [{ message: 'providers[0].timeouts.idle_ms (line 3): is too long', line: 3 }],
      changes: [],
      affected: [],
    }));
    const form = await open('Edit acme');
    const advanced = form.getByText('Advanced').closest('details');
    expect(advanced?.open).toBe(false);
    await apply(form);
    await form.findByText('is too long');
    expect(advanced?.open).toBe(true);
  });
});
