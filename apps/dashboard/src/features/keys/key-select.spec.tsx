/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, pageOf, type ApiDouble } from '../../testing/api-double';
import { BOUNDS, keyWith, ORGANIZATION, sessionOf, modelList } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const KEYS = 'GET /api/organizations/{organization_id}/keys';
const GENERATIONS = 'GET /api/organizations/{organization_id}/generations';
const ALL = Array.from({ length: 250 }, (_, index) =>
  keyWith({ id: `key-${250 - index}`, name: `service ${250 - index}`, last4: `z${250 - index}` }),
);

describe('the key filter', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('member'));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/models', () => modelList());
    api.on(GENERATIONS, () => ({ data: [], next_page_token: null, searched_until: null }));
    api.on(KEYS, ({ query }) => {
      const ids = query.get('ids')?.split(',');
      const keys =
        query.get('kind') === 'playground' ? [] : ALL.filter(({ id }) => ids?.includes(id) ?? true);
      return { ...pageOf(keys, query, ({ id, name }) => `${name} ${id}`), bounds: BOUNDS };
    });
  });
  afterEach(cleanup);

  const filterOf = (router: ReturnType<typeof renderPage>['router']) => router.state.location.search;

  it('finds the oldest key by part of its name', async () => {
    const { router } = renderPage('/o/org-1/generations');
    const filter = await screen.findByLabelText<HTMLInputElement>('Key');
    await userEvent.click(filter);
    await screen.findByRole('option', { name: 'service 250 …z250' });
    await userEvent.type(filter, 'service 7');
    await userEvent.click(await screen.findByRole('option', { name: 'service 7 …z7' }));
    await waitFor(() => expect(filterOf(router)).toEqual({ key: 'key-7' }));
    await waitFor(() => expect(filter.value).toBe('service 7 …z7'));
    expect(api.requestsTo(GENERATIONS).at(-1)?.query.get('key_id')).toBe('key-7');
  });

  it('does not select a key of an earlier search on Enter', async () => {
    const { router } = renderPage('/o/org-1/generations');
    const filter = await screen.findByLabelText('Key');
    await userEvent.click(filter);
    await screen.findByRole('option', { name: 'service 250 …z250' });
    await userEvent.type(filter, 'nothing{Enter}');
    expect(filterOf(router)).toEqual({});
  });

  it('selects with the keyboard, and removes the filter', async () => {
    const { router } = renderPage('/o/org-1/generations?key=key-7');
    const filter = await screen.findByLabelText('Key');
    await userEvent.click(filter);
    await screen.findByRole('option', { name: 'service 250 …z250' });
    await userEvent.keyboard('{ArrowDown}{Enter}');
    await waitFor(() => expect(filterOf(router)).toEqual({ key: 'key-250' }));
    await userEvent.keyboard('{ArrowDown}{ArrowUp}{Enter}');
    await waitFor(() => expect(filterOf(router)).toEqual({}));
  });
});
