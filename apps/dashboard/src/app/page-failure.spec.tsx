/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../testing/api-double';
import { modelList, ORGANIZATION, sessionOf } from '../testing/fixtures';
import { renderPage } from '../testing/render-page';

describe('a page that is opened while the API is down', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.refuse('GET /api/session', 503, { code: 'unavailable', message: 'Try again later.' });
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/models', () => modelList());
  });
  afterEach(cleanup);

  const recover = () => api.on('GET /api/session', () => sessionOf('member'));

  it('loads automatically once it responds', async () => {
    renderPage('/o/org-1/models');
    await screen.findByText('Something went wrong');
    recover();
    await screen.findByText('No models yet');
  });

  it('loads on request', async () => {
    renderPage('/o/org-1/models');
    await screen.findByText('Something went wrong');
    recover();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByText('No models yet');
  });
});
