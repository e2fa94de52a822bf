/** Every page of the dashboard by its name and address, for the tests and pictures that look at all of them. */
export interface Screen {
  readonly name: string;
  readonly path: string;
  readonly signedOut?: boolean;
}

export interface ScreenIds {
  readonly organizationId: string;
  readonly keyId: string;
  readonly generationId: string;
}

export function screens({ organizationId, keyId, generationId }: ScreenIds): readonly Screen[] {
  const inOrganization = (name: string, path: string): Screen => ({
    name,
    path: `/o/${organizationId}${path}`,
  });
  return [
    { name: 'sign-in', path: '/sign-in', signedOut: true },
    { name: 'forgot-password', path: '/forgot-password', signedOut: true },
    { name: 'reset-password', path: '/reset-password#token', signedOut: true },
    { name: 'invitation', path: '/invitation#token', signedOut: true },
    inOrganization('overview', ''),
    inOrganization('keys', '/keys'),
    inOrganization('new-key', '/keys/new'),
    inOrganization('key', `/keys/${keyId}`),
    inOrganization('usage', '/usage?range=7d'),
    inOrganization('usage-latency', '/usage?range=24h&measure=latency'),
    inOrganization('generations', '/generations'),
    inOrganization('generation', `/generations/${generationId}`),
    inOrganization('credit', '/credit'),
    inOrganization('playground', '/playground'),
    inOrganization('limits', '/limits'),
    inOrganization('members', '/members'),
    inOrganization('audit', '/audit'),
    { name: 'account', path: '/account' },
    { name: 'welcome', path: '/welcome' },
    { name: 'operator-organizations', path: '/operator/organizations' },
    { name: 'operator-models', path: '/operator/models' },
    { name: 'operator-providers', path: '/operator/providers' },
    { name: 'operator-settlement', path: '/operator/settlement' },
    { name: 'operator-people', path: '/operator/people' },
    { name: 'operator-audit', path: '/operator/audit' },
    { name: 'not-found', path: '/nothing-is-here' },
  ];
}
