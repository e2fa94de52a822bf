import { createEncryptionKey } from '@gateway/secrets';
import { z } from 'zod';
import { inferenceRouterEnvironment, requireSecretsKey } from './environment';

const settings = z.object(inferenceRouterEnvironment).superRefine(requireSecretsKey);
const issuesOf = (environment: Readonly<Record<string, string>>) =>
  settings.safeParse(environment).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ??
  [];

describe('the source of the catalogue', () => {
  it('is the file unless a setting names the database', () => {
    expect(settings.parse({}).GATEWAY_CATALOGUE).toBe('file');
    expect(issuesOf({ GATEWAY_CATALOGUE: 'git' })).toHaveLength(1);
  });

  it('needs a key for secrets when it is the database', () => {
    expect(issuesOf({})).toEqual([]);
    expect(issuesOf({ GATEWAY_CATALOGUE: 'database' })).toEqual([
      'GATEWAY_SECRETS_KEY is required with GATEWAY_CATALOGUE=database',
    ]);
    const key = { GATEWAY_SECRETS_KEY: createEncryptionKey() };
    expect(issuesOf({ GATEWAY_CATALOGUE: 'database', ...key })).toEqual([]);
  });
});
