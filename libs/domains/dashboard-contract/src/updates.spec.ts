import type { z } from 'zod';
import { nameOf } from './endpoint';
import { allEndpoints } from './endpoints';

/**
 * One rule for every PUT and PATCH: an absent field keeps its value, so that a script of today works with the fields of
 * tomorrow; null removes a value. What cannot follow it is listed here with the reason.
 */

/** Fields that a request must have, by endpoint. */
const REQUIRED: Readonly<Record<string, readonly [reason: string, ...fields: string[]]>> = {
  'PUT /api/account/password': ['both prove who changes it', 'current_password', 'new_password'],
  'PUT /api/operator/catalogue/draft': [
    'one document, of the revision that was edited',
    'text',
    'expected_revision',
  ],
  'PUT /api/operator/catalogue/secrets': [
    'the name identifies the secret, the value is all of it',
    'name',
    'value',
  ],
  'PUT /api/operator/targets/drain': [
    'two identify the target; a change needs a reason',
    ...['provider', 'provider_model', 'drained', 'reason'],
  ],
  'PUT /api/operator/models/disabled': [
    'one identifies the model; a change needs a reason',
    ...['model', 'disabled', 'reason'],
  ],
  'PUT /api/organizations/{organization_id}/second-factor-required': ['one value', 'required'],
  'PUT /api/organizations/{organization_id}/elastic-holds': ['one value', 'enabled'],
  'PUT /api/organizations/{organization_id}/members/{member_id}/role': ['one value', 'role'],
  'PUT /api/organizations/{organization_id}/domains/{domain}': [
    'one value, of a mapping that may be new',
    'role',
  ],
  'PUT /api/people/{member_id}/operator': ['one value', 'operator'],
  'PUT /api/people/{member_id}/disabled': ['one value', 'disabled'],
};

/** Fields that always have a value, so that null means nothing. */
const NEVER_NULL = new Set([
  ...[
    'name',
    'scopes',
    'enabled',
    'retention_days',
    'email_enabled',
    'multiple_completions',
    'json_streaming',
    'time_zone',
  ],
  // No settings: the version that was read, and an action.
  ...['version', 'erase'],
]);

const updates = allEndpoints()
  .filter(({ method }) => method === 'PUT' || method === 'PATCH')
  .map((endpoint) => [nameOf(endpoint), endpoint.body as z.ZodObject] as const);

describe.each(updates)('%s', (name, body) => {
  const [, ...required] = REQUIRED[name] ?? [''];
  const fields = Object.entries(body.shape as Record<string, z.ZodType>);

  it('keeps absent fields, but for those that are listed with a reason', () => {
    const needed = fields.filter(([, field]) => !field.safeParse(undefined).success);
    expect(needed.map(([field]) => field)).toEqual(required);
  });

  it('removes a value by null, but for those that always have one', () => {
    const refusing = fields
      .filter(([field, schema]) => !required.includes(field) && !schema.safeParse(null).success)
      .map(([field]) => field);
    expect(refusing.filter((field) => !NEVER_NULL.has(field))).toEqual([]);
  });
});

it('lists no other endpoint', () => {
  const names = updates.map(([name]) => name);
  expect(Object.keys(REQUIRED).filter((name) => !names.includes(name))).toEqual([]);
});
