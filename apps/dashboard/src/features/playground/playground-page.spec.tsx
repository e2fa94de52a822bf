/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { modelWith, ORGANIZATION, sessionOf, modelList } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const KEY = 'POST /api/organizations/{organization_id}/playground/key';
const MODEL = { ...modelWith('acme/m'), target_places: [{ provider: 'acme', region: null }] };

describe('the playground', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('developer'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on('GET /api/models', () => modelList([MODEL], { base_url: 'http://localhost/v1' }));
    api.refuse(KEY, 503, { code: 'unavailable', message: 'No key in this test.' });
  });
  afterEach(cleanup);

  it('sends nothing while a setting is invalid, since the request would run without it', async () => {
    renderPage('/o/org-1/playground');
    await userEvent.type(await screen.findByLabelText(/^Max output tokens/), '1,000');
    await userEvent.type(screen.getByLabelText('Message'), 'Hello!{Enter}');
    await screen.findByText('Correct the settings to send a message.');
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(true);
    expect(api.requestsTo(KEY)).toEqual([]);
    await userEvent.clear(screen.getByLabelText(/^Max output tokens/));
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    await waitFor(() => expect(api.requestsTo(KEY)).toHaveLength(1));
  });
});
