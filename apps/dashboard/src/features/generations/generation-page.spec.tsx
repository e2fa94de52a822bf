/** @jest-environment @happy-dom/jest-environment */
import type { Result } from '@gateway/dashboard-contract/client';
import { cleanup, screen, within } from '@testing-library/react';
import { installApiDouble } from '../../testing/api-double';
import { ORGANIZATION, projectWith, sessionOf } from '../../testing/fixtures';
import { renderPage } from '../../testing/render-page';

type Generation =
  Result<'GET /api/organizations/{organization_id}/generations/{generation_id}'>['generation'];
type ProviderError = NonNullable<Generation['attempts']>[number]['error'];

const AT = '2026-11-28T09:00:00.000Z';
const REVOKED = { http_status: 401, code: 'invalid_api_key', type: null, text: 'This key was revoked.' };

function failedWith(error: ProviderError): Generation {
  const attempt = {
    provider: 'acme',
    provider_model: 'm-1-large',
    reason: 'order',
    outcome: 'misconfigured',
  };
  return {
    project_id: 'proj-1',
    tags: { customer_id: 'acme' },
    ...{ id: 'gen-1', model_id: 'acme/m-1', key_id: 'key-1', request_id: 'req-1', external_user: null },
    ...{ created_at: AT, settled_at: AT, api_type: 'completions', streamed: false },
    ...{ status: 'failed', finish_reason: 'error', error_code: 'upstream_config_error' },
    error_message: 'The gateway is misconfigured for this model.',
    ...{ cost_usd: '0', charged_usd: '0', cost_by_kind: null, usage_source: null },
    ...{ duration_ms: 20, latency_ms: 20, generation_time_ms: 0, time_to_first_token_ms: null },
    ...{ prompt_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 },
    ...{ image_tokens: 0, completion_tokens: 0, reasoning_tokens: 0 },
    attempts: [{ ...attempt, duration_ms: 20, error }],
    ledger_entries: [
      {
        ...{ kind: 'settlement', posted_at: AT, credit_usd: '0', held_usd: '-1' },
        ...{ revenue_usd: '1', uncollected_usd: '0' },
      },
    ],
  };
}

describe('a failed generation', () => {
  afterEach(cleanup);

  const open = (role: 'operator' | 'member', error: ProviderError) => {
    const api = installApiDouble();
    api.on('GET /api/session', () => sessionOf(role));
    api.on('GET /api/organizations', () => ({ data: [ORGANIZATION], next_page_token: null }));
    api.on('GET /api/organizations/{organization_id}', () => ({ organization: ORGANIZATION }));
    api.on('GET /api/organizations/{organization_id}/generations/{generation_id}', () => ({
      generation: failedWith(error),
    }));
    api.on('GET /api/organizations/{organization_id}/projects', () => ({
      data: [projectWith()],
      next_page_token: null,
    }));
    renderPage('/o/org-1/generations/gen-1');
  };

  const headings = async () => {
    const table = await screen.findByRole('table', { name: 'Ledger entries' });
    return within(table)
      .getAllByRole('columnheader')
      .map((heading) => heading.textContent);
  };

  it('shows its tags, with links to the generations of each', async () => {
    open('member', null);
    const link = await screen.findByRole('link', { name: 'acme' });
    expect(decodeURIComponent(link.getAttribute('href') ?? '')).toContain('tag=customer_id:acme');
    screen.getByText('Tag customer_id');
  });

  it('shows the project, and customers no bookkeeping of the operator', async () => {
    open('member', null);
    const link = await screen.findByRole('link', { name: 'Website' });
    expect(link.getAttribute('href')).toBe('/o/org-1/projects/proj-1');
    expect(await headings()).toEqual(['Entry', 'Posted', 'Accounts', 'Credit', 'Held']);
    expect(screen.queryByText('Route')).toBeNull();
    expect(screen.queryByText(/sums to zero/)).toBeNull();
  });

  it('shows operators the route to the target, and all accounts', async () => {
    open('operator', null);
    expect((await screen.findByText('Route')).parentElement?.textContent).toContain(
      'acme/m-1 → acme m-1-large',
    );
    expect((await headings()).slice(-2)).toEqual(['Revenue', 'Uncollected']);
  });

  it('shows what its error means, with a link to the reference', async () => {
    open('member', null);
    await screen.findByText('The gateway is misconfigured for this model.');
    const link = screen.getByRole('link', { name: /upstream_config_error/ });
    expect(link.getAttribute('href')).toBe('/docs');
    expect(screen.queryByText(/HTTP/)).toBeNull();
  });

  it('shows operators the status, the code and the text of the provider', async () => {
    open('operator', REVOKED);
    expect((await screen.findByText(/HTTP 401/)).textContent).toBe(
      'HTTP 401 invalid_api_key: This key was revoked.',
    );
  });
});
