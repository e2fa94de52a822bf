/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../../testing/api-double';
import { sessionOf } from '../../../testing/fixtures';
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
    renderPage('/operator/catalogue');
    await userEvent.click(await screen.findByRole('button', { name }));
    return within(await screen.findByRole('dialog'));
  };
  const fill = async (form: ReturnType<typeof within>, label: string, value: string) => {
    const input = form.getByLabelText(label, { exact: false });
    await userEvent.clear(input);
    if (value !== '') await userEvent.type(input, value);
  };
  const apply = (form: ReturnType<typeof within>) =>
    userEvent.click(form.getByRole('button', { name: 'Apply to the text' }));
  const edits = () => api.requestsTo('POST /api/operator/catalogue/entries/edit').map(({ body }) => body);
  const editor = () => screen.getByLabelText('Catalogue text') as HTMLTextAreaElement;

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
    expect(editor().value).toBe(EDITED);
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
    expect(editor().value).toBe(TEXT);
    await userEvent.click(form.getByRole('button', { name: 'Apply with errors' }));
    await waitFor(() => expect(editor().value).toBe(EDITED));
  });

  it('adds a provider with only the fields that are set', async () => {
    const form = await open('Add provider');
    await fill(form, 'name', 'claude');
    await userEvent.selectOptions(form.getByLabelText('preset', { exact: false }), 'anthropic');
    await fill(form, 'api_key_secret', 'claude-key');
    await userEvent.click(form.getByText('timeouts'));
    await fill(form, 'timeouts.idle_ms', '9');
    await fill(form, 'timeouts.idle_ms', '');
    const headers = form.getByLabelText('headers', { exact: false });
    await userEvent.click(headers);
    await userEvent.paste('{"X-Key":{"secret":"team"}}');
    await userEvent.click(form.getByLabelText('send_traceparent'));
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
    await userEvent.click(await screen.findByRole('button', { name: 'Remove acme/m-2' }));
    await waitFor(() => expect(editor().value).toBe(EDITED));
    expect(edits()).toEqual([{ text: TEXT, kind: 'model', index: 1, entry: null }]);
  });

  it('starts the form of a new model with what is published of it', async () => {
    const entry = {
      id: 'acme/new',
      targets: [{ provider: 'acme', model: 'new' }],
      prices: { input: '3.3', output: '5' },
    };
    api.on('POST /api/operator/catalogue/proposals', () => ({
      text: TEXT,
      changed_models: [],
      notes: [],
      new_models: [
        { provider: 'acme', model: 'other', entry: {} },
        { provider: 'acme', model: 'new', entry },
      ],
    }));
    renderPage('/operator/catalogue');
    await userEvent.click(await screen.findByRole('button', { name: 'Propose prices' }));
    await userEvent.click(await screen.findByLabelText('Add a model with published prices'));
    await userEvent.click(await screen.findByRole('option', { name: 'acme/new' }));
    const form = within(await screen.findByRole('dialog', { name: 'Add a model' }));
    expect((form.getByLabelText('prices.input', { exact: false }) as HTMLInputElement).value).toBe('3.3');
    await fill(form, 'context_window', '10');
    await apply(form);
    await waitFor(() => expect(edits()).toHaveLength(1));
    expect(edits()[0]).toEqual({
      text: TEXT,
      kind: 'model',
      index: null,
      entry: { ...entry, context_window: 10 },
    });
  });
});
