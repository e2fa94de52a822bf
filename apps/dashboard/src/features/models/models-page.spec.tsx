/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { modelList, modelWith, ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

describe('the page of models and prices', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('member'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
  });
  afterEach(cleanup);

  const embedding = { ...modelWith('acme/embed'), max_output_tokens: 0 };
  const models = [
    { ...modelWith('acme/a'), capabilities: ['tools', 'json_mode'] },
    { ...modelWith('acme/b'), prices: { ...modelWith('').prices, input_usd_per_million: '0.25' } },
    embedding,
  ];
  const BASE_URL = 'https://gateway.example/v1';

  it('shows every role the models with capabilities, context and prices', async () => {
    api.on('GET /api/models', () => modelList(models, { base_url: BASE_URL }));
    renderPage('/o/org-1/models');
    const table = within(await screen.findByRole('table', { name: 'Models' }));
    expect(table.getAllByRole('row')).toHaveLength(models.length + 1);
    expect(table.getByText('JSON mode')).toBeTruthy();
    expect(table.getByRole('row', { name: /acme\/b/ }).textContent).toContain('$0.25');
    expect(table.getByRole('row', { name: /acme\/embed/ }).textContent).toContain('embeddings');
  });

  it('has the base URL, and an example for the chosen chat model', async () => {
    api.on('GET /api/models', () => modelList(models, { base_url: BASE_URL }));
    renderPage('/o/org-1/models');
    await screen.findByText(BASE_URL);
    const select = screen.getByLabelText('Model');
    expect(
      within(select)
        .getAllByRole('option')
        .map(({ textContent }) => textContent),
    ).toEqual(['acme/a', 'acme/b']);
    await userEvent.selectOptions(select, 'acme/b');
    const example = screen.getByText(/chat\/completions/).textContent;
    expect(example).toContain('"model": "acme/b"');
    expect(example).toContain('Bearer YOUR_API_KEY');
  });

  it('has no example while the public URL is unknown', async () => {
    api.on('GET /api/models', () => modelList(models));
    renderPage('/o/org-1/models');
    await screen.findByRole('table', { name: 'Models' });
    expect(screen.queryByText('How to call them')).toBeNull();
  });
});
