/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../testing/api-double';
import { modelWith, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

const SWITCH = 'PUT /api/operator/models/disabled';
const OFF = { since: '2026-11-20T09:00:00.000Z', by: 'ops@example.com', reason: 'wrong price' };

const model = (id: string, changes = {}) => ({
  ...modelWith(id),
  max_output_tokens: 4_096,
  disabled: false,
  disabled_in_file: false,
  switched_off: null,
  targets: [],
  ...changes,
});

describe('the models page', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/operator/catalogue', () => ({
      catalogue: {
        version: '1',
        file: 'models.yaml',
        sha256: 'abc',
        loaded_at: '2026-11-20T09:00:00.000Z',
        rejected: null,
        models: [
          model('acme/on'),
          model('acme/off', { disabled: true, switched_off: OFF }),
          model('acme/file', { disabled: true, disabled_in_file: true }),
        ],
      },
    }));
  });
  afterEach(cleanup);

  it.each([
    ['Disable acme/on', true],
    ['Enable acme/off', false],
  ])('%s sends the reason', async (name, disabled) => {
    renderPage('/operator/models');
    await userEvent.click(await screen.findByRole('button', { name }));
    const dialog = await screen.findByRole('dialog', { name });
    await userEvent.type(within(dialog).getByLabelText('Reason'), ' price list ');
    api.on(SWITCH, () => ({ model: model('acme/on') }));
    await userEvent.click(within(dialog).getByRole('button', { name: name.split(' ')[0] as string }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const id = name.split(' ')[1];
    expect(api.requestsTo(SWITCH).map(({ body }) => body)).toEqual([
      { model: id, disabled, reason: 'price list' },
    ]);
  });

  it('shows who disabled a model and why', async () => {
    renderPage('/operator/models');
    await screen.findByText('ops@example.com');
    await screen.findByText('wrong price');
  });

  it('offers no switch for a model that the file disables', async () => {
    renderPage('/operator/models');
    await screen.findByText('Disabled in the file');
    expect(screen.queryByRole('button', { name: /acme\/file/ })).toBeNull();
  });
});
