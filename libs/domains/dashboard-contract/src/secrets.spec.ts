import { createDashboardClient } from './client';
import { withoutSecrets } from './secrets';

const SECRETS = [
  'sk-gw-7f0Qm2xX1v9kTbZ3cN5pR8sW4yU6aE0dLx7Qe',
  'mk-gw-7f0Qm2xX1v9kTbZ3cN5pR8sW4yU6aE0dLx7Qe',
  'sk-ant-api03-7f0Qm2xX1v9kTbZ3cN5pR8sW4yx7Qe',
  'sk-proj-7f0Qm2xX1v9kTbZ3cN5pR8sW4yU6aE0dLx7Qe',
  'sk-7f0Qm2xX1v9kTbZ3cN5pR8sW4yU6aE0dLx7Qe',
  'AIzaSy7f0Qm2xX1v9kTbZ3cN5pR8sW4yU6x7Qe',
  'gsk_7f0Qm2xX1v9kTbZ3cN5px7Qe',
];

describe.each(SECRETS)('%s', (secret) => {
  it('is shortened to its last four characters, also within a text', () => {
    expect(withoutSecrets(secret)).toBe('x7Qe');
    expect(withoutSecrets(`Bearer ${secret}\n`)).toBe('Bearer x7Qe\n');
  });

  it('reaches no address of a request', () => {
    const client = createDashboardClient();
    const url = client.url('GET /api/organizations', { query: { search: ` ${secret} ` } });
    expect(url).toBe('/api/organizations?search=+x7Qe+');
    const path = client.url('GET /api/organizations/{organization_id}', {
      params: { organization_id: secret },
    });
    expect(path).not.toContain(secret);
  });
});

it.each([
  'sk-gw-…x7Qe',
  'x7Qe',
  'production',
  'gen-01KA4711',
  'req_01JD3M0V8Z6T5QK2X4W9Y7RBCE',
  'sk-learn',
  'a task-based key',
])('leaves %s searchable', (text) => expect(withoutSecrets(text)).toBe(text.replace('sk-gw-…', '')));
