/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const LOG = 'GET /api/audit';

describe('the audit log', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on(LOG, () => ({
      data: [
        {
          id: 'aud-1',
          created_at: '2026-11-20T09:00:00.000Z',
          actor: { id: 'mem-1', label: 'ada@example.com', ip_address: '127.0.0.1' },
          organization_id: 'org-1',
          action: 'key.update',
          target: 'key-1',
          details: { changed: { requests_per_minute: { before: null, after: 1200 } } },
          outcome: 'done' as const,
        },
      ],
      next_page_token: null,
    }));
  });
  afterEach(cleanup);

  const lastAsked = () => Object.fromEntries(api.asked(LOG).at(-1)?.query ?? []);

  it('says what was done in words, with both values', async () => {
    renderPage('/operator/audit');
    const row = (await screen.findByText('Changed a key')).closest('tr') as HTMLElement;
    expect(row.textContent).toContain('requests per minute: none → 1,200');
  });

  it('leads from a thing to all that was done to it, and on to one person, in the address', async () => {
    const { router } = renderPage('/operator/audit');
    await userEvent.click(await screen.findByRole('link', { name: 'key-1' }));
    await waitFor(() => expect(lastAsked()).toMatchObject({ target: 'key-1' }));
    expect(screen.getByLabelText<HTMLInputElement>('Of the thing with this id').value).toBe('key-1');
    const [person] = await screen.findAllByRole('link', { name: 'ada@example.com' });
    await userEvent.click(person as HTMLElement);
    await waitFor(() => expect(lastAsked()).toMatchObject({ target: 'key-1', actor_id: 'mem-1' }));
    expect(router.state.location.search).toEqual({ target: 'key-1', actor: 'mem-1' });
    // The person is named, not numbered.
    expect(screen.getByLabelText<HTMLSelectElement>('By').selectedOptions[0]?.textContent).toBe(
      'ada@example.com',
    );
  });

  it('asks for whole days of UTC, both included, and forgets every filter at once', async () => {
    const { router } = renderPage('/operator/audit?since=2026-11-01&until=2026-11-02&action=key.');
    await screen.findByText('Changed a key');
    expect(lastAsked()).toMatchObject({
      action: 'key.',
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-11-03T00:00:00.000Z',
    });
    await userEvent.click(screen.getByRole('button', { name: 'Take filters away' }));
    await waitFor(() => expect(router.state.location.search).toEqual({}));
  });
});
