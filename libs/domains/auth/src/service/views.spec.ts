import type { UnixMs, UtcDay } from '@gateway/base';
import type { ApiKey } from '../core/model';
import { keyView } from './views';

const NOW = Date.UTC(2026, 10, 20, 12) as UnixMs;
const KEY: ApiKey = {
  ...{ id: 'key-1', organizationId: 'org-1', last4: 'abcd', createdAt: NOW, version: 3 },
  settings: {
    ...{ name: 'a key', scopes: ['chat'], allowedModels: [], ipAllowlist: [], limits: {} },
    jsonStreaming: false,
  },
  owner: { id: 'mem-2', email: 'ada@example.com', name: 'Ada', isOperator: false, hasLeft: false },
};
const forCustomer = (key: ApiKey) => keyView(key, { now: NOW, isOperator: false });

it('shows null for a key that may use all models', () => {
  expect(forCustomer(KEY).allowed_models).toBeNull();
  const settings = { ...KEY.settings, allowedModels: ['acme/m'] };
  expect(forCustomer({ ...KEY, settings }).allowed_models).toEqual(['acme/m']);
});

it('shows the previous secret of an active key while it works', () => {
  const later = (NOW + 1) as UnixMs;
  const rotated = { ...KEY, previousSecret: { last4: 'prev', worksUntil: later } };
  const expired = { ...KEY.settings, expiresOn: '2026-11-19' as UtcDay };
  expect(forCustomer(rotated)).toMatchObject({ state: 'active', previous_secret: { last4: 'prev' } });
  for (const [key, state] of [
    [{ ...rotated, previousSecret: { last4: 'prev', worksUntil: NOW } }, 'active'],
    [{ ...rotated, revokedAt: NOW }, 'revoked'],
    [{ ...rotated, settings: expired }, 'expired'],
    [{ ...rotated, expiresAt: NOW }, 'expired'],
  ] as const) {
    expect(forCustomer(key)).toMatchObject({ state, previous_secret: null });
  }
});

it('shows an operator who owns a key to operators only', () => {
  const key = { ...KEY, owner: { ...KEY.owner, isOperator: true } };
  expect(forCustomer(key).owner).toBeNull();
  expect(keyView(key, { now: NOW, isOperator: true }).owner).toMatchObject({ id: 'mem-2' });
});
