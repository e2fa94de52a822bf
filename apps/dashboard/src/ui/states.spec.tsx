/** @jest-environment @happy-dom/jest-environment */
import { ApiError } from '@gateway/dashboard-contract/client';
import { cleanup, render, screen } from '@testing-library/react';
import { FailureLine, messageOf } from './states';
import { TipProvider } from './tooltip';

const invalid = (message: string, param?: string) =>
  new ApiError(message, {
    ...{ status: 400, code: 'invalid', metadata: {}, requestId: 'req-1' },
    ...(param === undefined ? {} : { param }),
  });

afterEach(cleanup);

it.each([
  ['name: must not be empty.', 'name', 'Name must not be empty.'],
  ['limits.daily_budget_usd: is required.', 'limits.daily_budget_usd', 'Daily budget (USD) is required.'],
  ['emails[0]: must be text.', 'emails[0]', 'Emails, entry 1 must be text.'],
  ['retention_days must be from 1 to 30.', 'retention_days', 'Retention days must be from 1 to 30.'],
  ['The total budget is too low.', 'total_budget_usd', 'The total budget is too low.'],
  ['ip_allowlist[1]: not an address.', 'ip_allowlist[1]', 'IP allowlist, entry 2: not an address.'],
  ['something failed.', undefined, 'Something failed.'],
])('reads %j of %j as a sentence', (message, param, sentence) =>
  expect(messageOf(invalid(message, param))).toBe(sentence),
);

it('shows no request ID for an input error', () => {
  render(<FailureLine error={invalid('name: is required.', 'name')} />, { wrapper: TipProvider });
  expect(screen.getByRole('alert').textContent).toBe('Name is required.');
});

it('shows the request ID of other errors', () => {
  const error = new ApiError('Failed.', { status: 500, code: 'internal', metadata: {}, requestId: 'req-1' });
  render(<FailureLine error={error} />, { wrapper: TipProvider });
  expect(screen.getByRole('alert').textContent).toContain('req-1');
});
