import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DAY_MS, formatUsd, nanoUsd, parseUsd } from '@gateway/base';
import { smallestIdAt } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { creditsView } from '@gateway/public-api';
import { OPERATOR, type DashboardResponse, type Browser } from './testing/dashboard-fixture';
import { createMoneyFixture, type MoneyFixture } from './testing/money-fixture';

/** Response bodies; each test checks the members that it reads. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

let fixture: MoneyFixture;
let operator: Browser;

beforeAll(async () => {
  fixture = await createMoneyFixture();
  operator = await fixture.dashboard.signedIn(OPERATOR.email);
});
afterAll(() => fixture.stop());

const jsonOf = (response: DashboardResponse): Json => response.json;

async function organizationWith(amountUsd: string): Promise<string> {
  const { organization } = jsonOf(await operator.request('POST /api/organizations', { name: 'Acme' }));
  const path = `/api/organizations/${organization.id}`;
  const added = await operator.request(`POST ${path}/credits`, { amount_usd: amountUsd, note: 'invoice' });
  expect(added.status).toBe(201);
  return organization.id as string;
}

let generations = 0;
/** With a timestamp, since the ledger expires generations by the time in their ids. */
const generationId = () =>
  `${smallestIdAt('gen', fixture.clock.now())}${String((generations += 1)).padStart(16, '0')}`;

describe('the statement', () => {
  it('shows every posting with its running balance, and matches /v1/credits to the nano-dollar', async () => {
    const id = await organizationWith('10.000000001');
    for (let count = 0; count < 7; count += 1) {
      await fixture.clock.advance(1_000);
      await fixture.spend({ id: generationId(), organizationId: id, promptTokens: 997 + count });
    }
    const month = new Date(fixture.clock.now()).toISOString().slice(0, 7);
    const lines: Json[] = [];
    let token: string | null = '';
    let sums: Json;
    do {
      const page: Json = jsonOf(
        await operator.request(
          `GET /api/organizations/${id}/statement?month=${month}&page_size=3&page_token=${token}`,
        ),
      );
      sums ??= page;
      lines.push(...page.data);
      token = page.next_page_token as string | null;
    } while (token !== null);

    expect(lines).toHaveLength(8);
    expect(lines.at(-1)).toMatchObject({
      kind: 'credit',
      amount_usd: '10.000000001',
      note: 'ops@example.com: invoice',
    });
    let balance = parseUsd(sums.closing_balance_usd)!;
    for (const line of lines) {
      expect(line.balance_usd).toBe(formatUsd(balance));
      balance = nanoUsd(balance - parseSigned(line.amount_usd));
    }
    expect(formatUsd(balance)).toBe(sums.opening_balance_usd);
    expect(sums).toMatchObject({ timezone: 'UTC', opening_balance_usd: '0', added_usd: '10.000000001' });

    const account = await fixture.ledger.getBalance({ organizationId: id });
    const publicView = creditsView({
      totalCreditsNanoUsd: nanoUsd(account.totalCreditsNanoUsd),
      totalUsageNanoUsd: nanoUsd(account.totalUsageNanoUsd),
      heldNanoUsd: nanoUsd(account.heldNanoUsd),
    }) as Json;
    expect(formatUsd(nanoUsd(account.balanceNanoUsd))).toBe(sums.closing_balance_usd);
    expect(Number(sums.closing_balance_usd)).toBe(publicView.data.balance);
    expect(parseSigned(sums.used_usd)).toBe(-account.totalUsageNanoUsd);
    const { balance: shown } = jsonOf(await operator.request(`GET /api/organizations/${id}/balance`));
    expect(shown.balance_usd).toBe(sums.closing_balance_usd);
  });

  it("each month's closing balance is the next month's opening balance", async () => {
    const id = await organizationWith('5');
    await fixture.spend({ id: generationId(), organizationId: id });
    await fixture.clock.advance(40 * DAY_MS);
    await fixture.spend({ id: generationId(), organizationId: id });
    await operator.request(`POST /api/organizations/${id}/credits`, { amount_usd: '1' });
    await fixture.clock.advance(70 * DAY_MS);
    const { data } = jsonOf(await operator.request(`GET /api/organizations/${id}/statement/months`));
    expect(data.length).toBeGreaterThanOrEqual(4);
    for (const [index, month] of data.entries()) {
      if (index > 0) expect(data[index - 1].opening_balance_usd).toBe(month.closing_balance_usd);
      const moved = ['added_usd', 'corrected_usd', 'used_usd'].reduce(
        (sum, field) => sum + parseSigned(month[field]),
        0n,
      );
      expect(parseSigned(month.opening_balance_usd) + moved).toBe(parseSigned(month.closing_balance_usd));
    }
    const { balance } = jsonOf(await operator.request(`GET /api/organizations/${id}/balance`));
    expect(data[0].closing_balance_usd).toBe(balance.balance_usd);

    const month = data.at(-1).month as string;
    const csv = await fetchText(`/api/organizations/${id}/statement.csv?month=${month}`);
    const rows = csv
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    expect(rows[0]).toEqual(['posted_at_utc', 'kind', 'reference', 'amount_usd', 'balance_usd', 'note']);
    expect(rows.slice(1).map(([, kind]) => kind)).toEqual(['opening', 'credit', 'settlement', 'closing']);
    expect(rows.at(-1)?.[4]).toBe(data.at(-1).closing_balance_usd);

    const [, credit, settlement] = rows.slice(1);
    const day = settlement?.[0]?.slice(0, 10) ?? '';
    const ofDay = await fetchText(`/api/organizations/${id}/statement.csv?month=${month}&day=${day}`);
    const opening = credit?.[0]?.startsWith(day) === true ? '0' : credit?.[4];
    expect(ofDay).toContain(`,opening,,,${opening},`);
    expect(ofDay).toContain(settlement?.join(','));
    const nextDay = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
    expect(await fetchText(`/api/organizations/${id}/statement.csv?month=${month}&day=${nextDay}`)).toBe(
      `posted_at_utc,kind,reference,amount_usd,balance_usd,note\r\n,opening,,,${settlement?.[4]},\r\n,closing,,,${settlement?.[4]},\r\n`,
    );
    const { data: days } = jsonOf(
      await operator.request(`GET /api/organizations/${id}/statement/days?month=${month}`),
    );
    const byDay = await fetchText(`/api/organizations/${id}/statement.csv?month=${month}&rows=days`);
    const dayRows = days.map((one: Json) =>
      [one.day, one.added_usd, one.corrected_usd, one.used_usd, one.closing_balance_usd].join(','),
    );
    expect(byDay.trim().split('\r\n')).toEqual([
      'day,added_usd,corrected_usd,used_usd,closing_balance_usd',
      ...dayRows.reverse(),
    ]);
    const credits = await fetchText(`/api/organizations/${id}/statement.csv?month=${month}&rows=credits`);
    expect(credits.trim().split('\r\n').slice(1)).toEqual([
      [...(credit ?? []).slice(0, 4), credit?.[5]].join(','),
    ]);
  });

  it('is empty without postings, and rejects an invalid month', async () => {
    const { organization } = jsonOf(await operator.request('POST /api/organizations', { name: 'Empty' }));
    const path = `/api/organizations/${organization.id}`;
    expect(jsonOf(await operator.request(`GET ${path}/statement?month=2026-11`))).toMatchObject({
      data: [],
      opening_balance_usd: '0',
      closing_balance_usd: '0',
      next_page_token: null,
    });
    expect((await operator.request(`GET ${path}/statement?month=2026-13`)).error).toMatchObject({
      code: 'invalid',
      param: 'month',
    });
    expect((await operator.request(`GET ${path}/statement?month=2026-11&page_token=x`)).error).toMatchObject({
      code: 'invalid',
      param: 'page_token',
    });
  });
});

describe('a correction', () => {
  const correction = { amount_usd: '2.5', reason: 'added twice' };

  it('is previewed, applied once, and shown in the statement and the audit log', async () => {
    const id = await organizationWith('10');
    const path = `/api/organizations/${id}/corrections`;
    const preview = jsonOf(await operator.request(`POST ${path}/preview`, correction));
    expect(preview).toMatchObject({
      before: { available_usd: '10' },
      after: { available_usd: '7.5', total_credits_usd: '7.5' },
    });
    expect(jsonOf(await operator.request(`GET /api/organizations/${id}/balance`)).balance.available_usd).toBe(
      '10',
    );

    const body = { ...correction, confirmation_token: preview.confirmation_token };
    for (let times = 0; times < 2; times += 1) {
      const response = await operator.request(`POST ${path}`, body);
      expect(response.status).toBe(201);
      expect(response.json).toMatchObject({
        correction: { amount_usd: '-2.5' },
        balance: { available_usd: '7.5' },
      });
    }
    const month = new Date(fixture.clock.now()).toISOString().slice(0, 7);
    const { data, corrected_usd: corrected } = jsonOf(
      await operator.request(`GET /api/organizations/${id}/statement?month=${month}`),
    );
    expect(corrected).toBe('-2.5');
    expect(data[0]).toMatchObject({
      kind: 'correction',
      amount_usd: '-2.5',
      note: 'ops@example.com: added twice',
    });
    const audit = jsonOf(await operator.request(`GET /api/organizations/${id}/audit?action=credit.correct`));
    expect(audit.data[0]).toMatchObject({
      details: { amount_usd: '-2.5', reason: 'added twice' },
    });
  });

  it('never exceeds the available balance', async () => {
    const id = await organizationWith('2');
    const path = `/api/organizations/${id}/corrections`;
    expect((await operator.request(`POST ${path}/preview`, correction)).error).toMatchObject({
      code: 'conflict',
      param: 'amount_usd',
      metadata: { available_usd: '2' },
    });
    const preview = jsonOf(
      await operator.request(`POST ${path}/preview`, { ...correction, amount_usd: '2' }),
    );
    await fixture.spend({ id: generationId(), organizationId: id });
    const body = { ...correction, amount_usd: '2', confirmation_token: preview.confirmation_token };
    const refused = await operator.request(`POST ${path}`, body);
    expect(refused).toMatchObject({ status: 409, error: { param: 'amount_usd' } });
    const audit = jsonOf(await operator.request(`GET /api/organizations/${id}/audit?action=credit.correct`));
    expect(audit.data).toEqual([]);
  });

  it.each([
    ['with another amount than previewed', { amount_usd: '2.6' }],
    ['with another reason than previewed', { reason: 'something else' }],
    ['without a preview', { confirmation_token: 'crd-00000000000000000000000000' }],
  ])('is rejected %s', async (_what, changed) => {
    const id = await organizationWith('10');
    const path = `/api/organizations/${id}/corrections`;
    const preview = jsonOf(await operator.request(`POST ${path}/preview`, correction));
    const body = { ...correction, confirmation_token: preview.confirmation_token, ...changed };
    expect((await operator.request(`POST ${path}`, body)).error).toMatchObject({
      code: 'conflict',
      param: 'confirmation_token',
    });
  });

  it('is rejected when its preview is over ten minutes old', async () => {
    const id = await organizationWith('10');
    const path = `/api/organizations/${id}/corrections`;
    const preview = jsonOf(await operator.request(`POST ${path}/preview`, correction));
    await fixture.clock.advance(10 * 60_000 + 1);
    const body = { ...correction, confirmation_token: preview.confirmation_token };
    expect((await operator.request(`POST ${path}`, body)).error).toMatchObject({
      code: 'conflict',
      param: 'confirmation_token',
    });
  });
});

describe('usage and generations', () => {
  it('show spending by hour, model and key, and as CSV', async () => {
    const id = await organizationWith('10');
    await fixture.spend({ id: generationId(), organizationId: id, modelId: 'acme/a' });
    const settled = await fixture.spend({
      id: generationId(),
      organizationId: id,
      modelId: 'acme/b',
      keyId: '=key,"2"',
    });
    const range = `start=${new Date(fixture.clock.now() - 1).toISOString()}&end=${new Date(fixture.clock.now() + 1).toISOString()}`;
    const series = jsonOf(
      await operator.request(
        `GET /api/organizations/${id}/usage?${range}&granularity=hour&split_by=model,key`,
      ),
    );
    expect(series).toMatchObject({
      timezone: 'UTC',
      granularity: 'hour',
      totals: { requests: 2, errors: 0 },
    });
    expect(series.data.map((point: Json) => [point.model_id, point.key_id, point.requests])).toEqual([
      ['acme/a', 'key-1', 1],
      ['acme/b', '=key,"2"', 1],
    ]);
    expect(series.data[1].cost_usd).toBe(formatUsd(nanoUsd(settled.costNanoUsd)));
    const csv = await fetchText(
      `/api/organizations/${id}/usage.csv?${range}&granularity=hour&split_by=model,key`,
    );
    expect(csv.split('\r\n')).toHaveLength(4);
    expect(csv).toContain(`acme/b,"'=key,""2""",,,,,,1,0,0,0,1000,100,30,20,0,10,3,`);
    const filtered = await fetchText(`/api/organizations/${id}/generations.csv?model_id=acme/b`);
    const [heading, row, end] = filtered.split('\r\n');
    expect(heading).toMatch(/^created_at,id,request_id,api_type,status,.*,cost_usd,charged_usd,/);
    expect(row).toContain(`,${settled.finished?.generationId},`);
    expect(row).toContain(`,acme/b,"'=key,""2""",`);
    expect(end).toBe('');
    const refused = await fetchText(`/api/organizations/${id}/refused-requests.csv`);
    expect(refused).toBe('refused_at,request_id,key_id,model,api_type,error_code,error_message\r\n');
    const live = jsonOf(await operator.request(`GET /api/organizations/${id}/live`));
    expect(live).toMatchObject({
      requests_today: 2,
      latest_generation_id: settled.finished?.generationId,
      low_balance: null,
    });
    expect(
      (await operator.request(`GET /api/organizations/${id}/usage?${range}&granularity=week`)).error,
    ).toMatchObject({ param: 'granularity' });
    const year = `start=2026-01-01T00:00:00Z&end=2026-12-01T00:00:00Z&granularity=hour`;
    expect((await operator.request(`GET /api/organizations/${id}/usage?${year}`)).error).toMatchObject({
      code: 'invalid',
      param: 'start',
    });
  });

  it('have the names of keys and projects, and whole milliseconds, in the CSV of usage', async () => {
    const id = await organizationWith('10');
    const { key } = jsonOf(
      await operator.request(`POST /api/organizations/${id}/keys`, { name: 'Web', scopes: ['chat'] }),
    );
    for (const latencyMs of [100, 101, 103])
      await fixture.spend({ id: generationId(), organizationId: id, keyId: key.id, latencyMs });
    const range = `start=${new Date(fixture.clock.now() - 1).toISOString()}&end=${new Date(fixture.clock.now() + 1).toISOString()}`;
    const csv = await fetchText(`/api/organizations/${id}/usage.csv?${range}&granularity=day&split_by=key`);
    const [heading = [], row = []] = csv.split('\r\n').map((line) => line.split(','));
    expect(heading.slice(2, 6)).toEqual(['key_id', 'key_name', 'project_id', 'project_name']);
    expect(row.slice(2, 6)).toEqual([key.id, 'Web', '', '']);
    expect(heading.slice(6, 8)).toEqual(['value', 'other_values']);
    const byUser = await fetchText(
      `/api/organizations/${id}/usage.csv?${range}&granularity=day&split_by=user`,
    );
    expect(byUser.split('\r\n')[1]?.split(',').slice(6, 9)).toEqual(['', 'false', '3']);
    const durations = row.filter((_, column) => /^duration_.*_ms$/.test(heading[column] ?? ''));
    expect(durations).toHaveLength(3);
    for (const duration of durations) expect(duration).toMatch(/^\d+$/);
  });

  it('show a generation with cost by kind, attempts and ledger entries; provider models to operators only', async () => {
    const id = await organizationWith('10');
    await fixture.dashboard.person('reader@example.com', { [id]: 'member' });
    const member = await fixture.dashboard.signedIn('reader@example.com');
    const one = generationId();
    const settled = await fixture.spend({ id: one, organizationId: id });
    const path = `/api/organizations/${id}/generations`;
    const { generation } = jsonOf(await member.request(`GET ${path}/${one}`));
    expect(generation).toMatchObject({
      id: one,
      status: 'completed',
      prompt_tokens: 1_000,
      cached_tokens: 100,
      cache_write_tokens: 30,
      cache_write_1h_tokens: 20,
      duration_ms: 1_000,
      attempts: [
        {
          provider: 'other',
          provider_model: null,
          reason: 'weight',
          outcome: 'timed_out',
          duration_ms: 50,
          error: null,
        },
        { provider: 'acme', provider_model: null, reason: 'failover', outcome: 'ok' },
      ],
      ledger_entries: [
        { kind: 'hold', credit_usd: '-0.02', held_usd: '0.02' },
        { kind: 'settlement', held_usd: '-0.02', uncollected_usd: '0' },
      ],
    });
    const byKind = generation.cost_by_kind as Json[];
    expect(byKind.map(({ kind, tokens }) => [kind, tokens])).toEqual([
      ['input', 850],
      ['cached_input', 100],
      ['cache_write', 30],
      ['cache_write_1h', 20],
      ['image', 0],
      ['output', 7],
      ['reasoning', 3],
    ]);
    expect(byKind.reduce((sum, { cost_usd: cost }) => sum + parseUsd(cost)!, 0n)).toBe(settled.costNanoUsd);
    expect(generation.cost_usd).toBe(formatUsd(nanoUsd(settled.costNanoUsd)));
    const seen = jsonOf(await operator.request(`GET ${path}/${one}`)).generation;
    expect(seen.attempts[0].provider_model).toBe('secret-deployment');

    expect(jsonOf(await member.request(`GET ${path}?search=${one}`)).data).toHaveLength(1);
    expect(jsonOf(await member.request(`GET ${path}?status=failed`))).toMatchObject({
      data: [],
      next_page_token: null,
      searched_until: null,
    });
    expect((await member.request(`GET ${path}?min_cost_usd=much`)).error).toMatchObject({
      code: 'invalid',
      param: 'min_cost_usd',
    });
    expect((await member.request(`GET ${path}/gen-unknown`)).status).toBe(404);
    const foreign = await organizationWith('1');
    expect((await member.request(`GET /api/organizations/${foreign}/generations/${one}`)).status).toBe(404);
    expect((await operator.request(`GET /api/organizations/${foreign}/generations/${one}`)).status).toBe(404);
  });
});

describe('a low-balance alert', () => {
  let hook: Server;
  let received: { body: string; signature: string }[];
  let status: number;
  const url = () => `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;

  beforeEach(async () => {
    received = [];
    status = 200;
    hook = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        received.push({ body, signature: String(request.headers['x-gateway-signature']) });
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => hook.close(resolve)));

  const set = (id: string, more: object = {}) =>
    operator.request(`PUT /api/organizations/${id}/credit-alert`, {
      threshold_usd: '5',
      webhook_url: url(),
      emails: [],
      ...more,
    });

  it('is signed, sent once when the balance falls below the threshold, and again only after it was above', async () => {
    const id = await organizationWith('5');
    const { webhook_secret: secret, alert } = jsonOf(await set(id));
    expect(secret).toMatch(/^whsec_.{40,}$/);
    expect(alert).toMatchObject({ threshold_usd: '5', last_sent_at: null });
    expect(jsonOf(await set(id)).webhook_secret).toBeNull();
    const { rows } = await fixture.pools.ledger.query<{ webhook_secret: string }>(
      'select webhook_secret from credit_alerts where organization_id = $1',
      [id],
    );
    expect(rows[0]?.webhook_secret).toMatch(/^enc1\./);

    await fixture.spend({ id: generationId(), organizationId: id });
    await until(() => expect(received).toHaveLength(1));
    const [first] = received;
    const message = JSON.parse(first!.body) as Json;
    expect(message).toMatchObject({ event: 'credit.low_balance', organization_id: id, threshold_usd: '5' });
    const [time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(first!.signature)!.slice(1) as [
      string,
      string,
    ];
    expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${first!.body}`).digest('hex'));
    await until(async () => {
      const response = jsonOf(await operator.request(`GET /api/organizations/${id}/balance`));
      expect(response.low_balance).toMatchObject({ threshold_usd: '5' });
      const { alert: sent } = jsonOf(await operator.request(`GET /api/organizations/${id}/credit-alert`));
      expect(sent).toMatchObject({ last_sent_at: expect.any(String), last_failure: null });
    });

    await operator.request(`POST /api/organizations/${id}/credits`, { amount_usd: '1' });
    expect(jsonOf(await operator.request(`GET /api/organizations/${id}/balance`)).low_balance).toBeNull();
    await until(async () => {
      const { rows } = await fixture.pools.ledger.query(
        'select below_since_unix_ms from credit_alerts where organization_id = $1',
        [id],
      );
      expect(rows[0]).toEqual({ below_since_unix_ms: null });
    });
    expect(received).toHaveLength(1);
    for (let count = 0; count < 60; count += 1) {
      await fixture.spend({ id: generationId(), organizationId: id, promptTokens: 19_000 });
    }
    await until(() => expect(received).toHaveLength(2));
  });

  it('is retried after a failed delivery, and shows the reason', async () => {
    const id = await organizationWith('1');
    status = 500;
    await set(id);
    await until(async () => {
      const { alert } = jsonOf(await operator.request(`GET /api/organizations/${id}/credit-alert`));
      expect(alert.last_failure).toBe('The webhook returned status 500.');
    });
    expect(received).toHaveLength(1);
    status = 204;
    await fixture.clock.advance(30_001);
    await until(() => expect(received).toHaveLength(2));
    expect(received[1]?.body).toBe(received[0]?.body);
  });

  it('can be tested, and its secrets are not in the audit log', async () => {
    const id = await organizationWith('10');
    expect((await operator.request(`POST /api/organizations/${id}/credit-alert/test`)).status).toBe(409);
    const { webhook_secret: secret } = jsonOf(await set(id));
    expect(jsonOf(await operator.request(`POST /api/organizations/${id}/credit-alert/test`))).toEqual({
      delivered: true,
      failure: null,
    });
    // Receivers may react to a low balance, so a test is another event.
    const sent = JSON.parse(received[0]?.body ?? '') as Readonly<Record<string, unknown>>;
    expect(sent).toMatchObject({ event: 'alert.test', organization_id: id });
    expect(sent).not.toHaveProperty('available_usd');
    status = 404;
    expect(jsonOf(await operator.request(`POST /api/organizations/${id}/credit-alert/test`))).toEqual({
      delivered: false,
      failure: 'The webhook returned status 404.',
    });
    const audit = JSON.stringify(jsonOf(await operator.request(`GET /api/organizations/${id}/audit`)));
    expect(audit).toContain('credit_alert.set');
    expect(audit).not.toContain(secret);
    expect(audit).not.toContain('/hook');
  });

  it('never return the path of the webhook, which may be a secret, and keep it unless it is replaced', async () => {
    const id = await organizationWith('10');
    await set(id);
    const path = `/api/organizations/${id}/credit-alert`;
    const origin = new URL(url()).origin;
    const shown = jsonOf(await operator.request(`GET ${path}`));
    expect(shown.alert).toMatchObject({ webhook_origin: origin });
    expect(JSON.stringify(shown)).not.toContain('/hook');
    // Without the field, the URL and its signing secret stay.
    const kept = jsonOf(await set(id, { webhook_url: undefined, threshold_usd: '6' }));
    expect(kept).toMatchObject({
      alert: { webhook_origin: origin, threshold_usd: '6' },
      webhook_secret: null,
    });
    expect(jsonOf(await operator.request(`POST ${path}/test`)).delivered).toBe(true);
    expect(received).toHaveLength(1);
    expect(jsonOf(await set(id, { webhook_url: null })).alert.webhook_origin).toBeNull();
  });

  it('are refused after too many emails to one address in an hour, from any organization', async () => {
    const emails = ['Outsider@example.org'];
    const ids = [await organizationWith('10'), await organizationWith('10')] as const;
    const none = { webhook_url: null };
    const statuses: number[] = [];
    for (let sent = 0; sent < 12; sent += 1) {
      statuses.push((await set(ids[sent % 2] as string, { ...none, emails })).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429]);
    const refused = await operator.request(`POST /api/organizations/${ids[0]}/credit-alert/test`);
    expect(refused.error).toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringMatching(/^Too many emails were sent/),
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // A change that keeps the address counts, since it may send an email; without a threshold none is sent.
    const change = async (body: object) =>
      (await operator.request(`PUT /api/organizations/${ids[0]}/credit-alert`, body)).status;
    expect(await change({ budget_shares: [50] })).toBe(429);
    expect(await change({ threshold_usd: null })).toBe(200);
    expect(await change({ budget_shares: [50] })).toBe(200);
    expect((await set(ids[0], { ...none, emails: ['another@example.org'] })).status).toBe(200);
  });

  it.each([
    ['webhook_url', { webhook_url: 'ftp://example.com' }],
    ['webhook_url', { webhook_url: 'nonsense' }],
    ['webhook_url', { webhook_url: 'https://user:password@example.com' }],
    ['emails[0]', { emails: ['no-address'] }],
    ['emails[1]', { emails: ['a@example.com', 'b@example.com\r\nbcc: c@example.com'] }],
    ['threshold_usd', { threshold_usd: '-1' }],
  ])('is rejected with an invalid %s', async (param, bad) => {
    const id = await organizationWith('10');
    expect((await set(id, bad)).error).toMatchObject({ code: 'invalid', param });
  });
});

it('shows a generation without ledger entries while the ledger is unavailable', async () => {
  const own = await createMoneyFixture();
  const admin = await own.dashboard.signedIn(OPERATOR.email);
  const { organization } = jsonOf(await admin.request('POST /api/organizations', { name: 'Acme' }));
  const path = `/api/organizations/${organization.id}`;
  await admin.request(`POST ${path}/credits`, { amount_usd: '1' });
  const one = generationId();
  await own.spend({ id: one, organizationId: organization.id });
  await own.pools.ledger.query('alter table accounts rename to accounts_unavailable');
  await own.pools.ledger.query('alter table postings rename to postings_unavailable');
  try {
    const seen = jsonOf(await admin.request(`GET ${path}/generations/${one}`)).generation;
    expect(seen).toMatchObject({ id: one, ledger_entries: null });
    expect((await admin.request(`GET ${path}/statement?month=2026-11`)).status).toBeGreaterThanOrEqual(500);
  } finally {
    await own.stop();
  }
}, 60_000);

/** Waits until the expectations hold. */
function until(expectations: () => unknown): Promise<true> {
  return eventually('the expectations hold', async () => {
    try {
      await expectations();
      return true;
    } catch {
      return undefined;
    }
  });
}

async function fetchText(path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${fixture.dashboard.api.port()}${path}`, {
    headers: { cookie: operator.cookie() },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+\.csv"$/);
  return response.text();
}

function parseSigned(text: string): bigint {
  return text.startsWith('-') ? -parseUsd(text.slice(1))! : parseUsd(text)!;
}
