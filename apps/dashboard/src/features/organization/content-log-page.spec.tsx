/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { ORGANIZATION, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const READ = 'GET /api/organizations/{organization_id}/content-log';
const SET = 'PUT /api/organizations/{organization_id}/content-log';
const OFF = {
  ...{ enabled: false, has_contents: false, available: true, retention_days: 7 },
  ...{ max_retention_days: 30, max_bytes: 262_144 },
};

describe('the content log page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('owner'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on(READ, () => ({ content_log: OFF }));
  });
  afterEach(cleanup);

  const show = () => renderPage('/o/org-1/content-log');
  const button = (name: string) => screen.findByRole('button', { name });

  it.each(['member', 'admin', 'operator'] as const)('shows a %s the state, and no control', async (role) => {
    api.on('GET /api/session', () => sessionOf(role));
    show();
    await screen.findByText('Only owners of the organization can change this.');
    screen.getByText('Not stored');
    expect(screen.queryByRole('button', { name: 'Turn on' })).toBeNull();
  });

  it('explains that the platform has no key', async () => {
    api.on(READ, () => ({ content_log: { ...OFF, available: false } }));
    show();
    await screen.findByText('The platform has no key to encrypt content. An operator can configure one.');
    expect(screen.queryByRole('button', { name: 'Turn on' })).toBeNull();
  });

  it('offers to erase what is stored only where something is or can be', async () => {
    const eraseAll = 'DELETE /api/organizations/{organization_id}/content-log/contents';
    show();
    await button('Turn on');
    expect(screen.queryByRole('button', { name: 'Erase everything' })).toBeNull();
    cleanup();
    api.on(READ, () => ({ content_log: { ...OFF, has_contents: true } }));
    api.on(eraseAll, () => undefined);
    show();
    await screen.findByText('Earlier ones are stored.', { exact: false });
    await userEvent.click(await button('Erase everything'));
    api.on(READ, () => ({ content_log: OFF }));
    await userEvent.click(
      screen.getAllByRole('button', { name: 'Erase everything', hidden: true }).at(-1) as Element,
    );
    await waitFor(() => expect(screen.queryByText('Earlier ones are stored.', { exact: false })).toBeNull());
    expect(api.requestsTo(eraseAll)).toHaveLength(1);
  });

  it('turns it on after a confirmation, and off with an erasure', async () => {
    api.on(SET, () => ({ content_log: { ...OFF, enabled: true, retention_days: 3 } }));
    show();
    await userEvent.clear(await screen.findByLabelText('Days until deletion'));
    await userEvent.type(screen.getByLabelText('Days until deletion'), '3');
    await userEvent.click(await button('Turn on'));
    expect(api.requestsTo(SET)).toEqual([]);
    await screen.findByText(/are stored for 3 days, and all owners can read them/);
    const [, confirm] = screen.getAllByRole('button', { name: 'Turn on', hidden: true });
    await userEvent.click(confirm ?? (await button('Turn on')));
    await screen.findByText('Stored');
    api.on(SET, () => ({ content_log: OFF }));
    await userEvent.click(await button('Turn off'));
    await userEvent.click(await screen.findByLabelText('Erase everything that is stored'));
    await userEvent.click(
      screen.getAllByRole('button', { name: 'Turn off', hidden: true }).at(-1) as Element,
    );
    await waitFor(() =>
      expect(api.requestsTo(SET).map(({ body }) => body)).toEqual([
        { enabled: true, retention_days: 3, erase: false },
        { enabled: false, retention_days: 3, erase: true },
      ]),
    );
  });
});
