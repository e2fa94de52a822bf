/** @jest-environment @happy-dom/jest-environment */
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { installApiDouble, type ApiDouble } from '../../../testing/api-double';
import { CATALOGUE_OF_FILE, operatorModel, sessionOf } from '../../../testing/fixtures';
import { renderPage } from '../../../testing/render-page';

const SWITCH = 'PUT /api/operator/models/disabled';
const OFF = { since: '2026-11-20T09:00:00.000Z', by: 'ops@example.com', reason: 'wrong price' };

/** Every price is different, so that a column with the price of another kind is noticed. */
const tokenPrices = (from: number) => ({
  input_usd_per_million: `${from}`,
  cached_input_usd_per_million: `${from + 1}`,
  cache_write_usd_per_million: `${from + 2}`,
  cache_write_1h_usd_per_million: `${from + 3}`,
  output_usd_per_million: `${from + 4}`,
  reasoning_usd_per_million: `${from + 5}`,
  image_usd_per_million: `${from + 6}`,
});
const tiers = [
  { above_prompt_tokens: 200_000, ...tokenPrices(20) },
  { above_prompt_tokens: 400_000, ...tokenPrices(40) },
];

describe('the models tab', () => {
  let api: ApiDouble;

  beforeEach(() => {
    api = installApiDouble();
    api.on('GET /api/session', () => sessionOf('operator'));
    api.on('GET /api/organizations', () => ({ data: [], next_page_token: null }));
    api.on('GET /api/operator/catalogue/state', () => CATALOGUE_OF_FILE);
    api.on('GET /api/operator/catalogue', () => ({
      catalogue: {
        version: '1',
        file: 'models.yaml',
        published_version: null,
        sha256: 'abc',
        loaded_at: '2026-11-20T09:00:00.000Z',
        rejected: null,
        models: [
          operatorModel('acme/on', { prices: { ...tokenPrices(1), tiers } }),
          operatorModel('acme/off', { disabled: true, switched_off: OFF }),
          operatorModel('acme/file', { disabled: true, disabled_in_file: true }),
        ],
      },
    }));
  });
  afterEach(cleanup);

  it.each([
    ['Disable acme/on', true],
    ['Enable acme/off', false],
  ])('%s sends the reason', async (name, disabled) => {
    renderPage('/operator/catalogue');
    await userEvent.click(await screen.findByRole('button', { name }));
    const dialog = await screen.findByRole('dialog', { name });
    await userEvent.type(within(dialog).getByLabelText('Reason'), ' price list ');
    api.on(SWITCH, () => ({ model: operatorModel('acme/on') }));
    await userEvent.click(within(dialog).getByRole('button', { name: name.split(' ')[0] as string }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const id = name.split(' ')[1];
    expect(api.requestsTo(SWITCH).map(({ body }) => body)).toEqual([
      { model: id, disabled, reason: 'price list' },
    ]);
  });

  it('shows who disabled a model and why', async () => {
    renderPage('/operator/catalogue');
    await screen.findByText('ops@example.com');
    await screen.findByText('wrong price');
  });

  it('shows each price of a model, and below it the prices for long prompts', async () => {
    renderPage('/operator/catalogue');
    const table = await screen.findByRole('table');
    const headers = within(table).getAllByRole('columnheader');
    const row = within(table).getByText('acme/on', { selector: '.font-medium' }).closest('tr') as HTMLElement;
    const cells = within(row).getAllByRole('cell');
    const prices = headers.map((header, index) => [header.textContent, cells[index]?.textContent]);
    expect(prices.filter(([header]) => header?.includes('/ 1M'))).toEqual([
      ['Input / 1M', '$1.00above 200,000 tokens: $20.00above 400,000 tokens: $40.00'],
      ['Output / 1M', '$5.00above 200,000 tokens: $24.00above 400,000 tokens: $44.00'],
      [
        'Other prices / 1M',
        'Cached $2.00Cache write $3.00Cache write 1h $4.00Reasoning $6.00' +
          'above 200,000 tokens:Cached $21.00Cache write $22.00Cache write 1h $23.00Reasoning $25.00' +
          'above 400,000 tokens:Cached $41.00Cache write $42.00Cache write 1h $43.00Reasoning $45.00',
      ],
    ]);
  });

  it('offers no switch for a model that the file disables', async () => {
    renderPage('/operator/catalogue');
    await screen.findByText('Disabled in the catalogue');
    expect(screen.queryByRole('button', { name: /acme\/file/ })).toBeNull();
  });
});
