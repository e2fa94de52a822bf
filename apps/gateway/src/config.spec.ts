import { ConfigError, readConfig } from '@gateway/runtime';
import { settings } from './config';

function issuesOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(settings, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
  return [];
}

describe('the settings', () => {
  it('report every invalid trusted proxy before the start', () => {
    expect(issuesOf({ GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8, nonsense, ::1, 10.0.0.0/33' })).toEqual([
      'GATEWAY_TRUSTED_PROXIES: must be addresses or CIDR ranges; invalid: "nonsense", "10.0.0.0/33"',
    ]);
    expect(issuesOf({ GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8,192.0.2.1' })).toEqual([]);
  });

  it('accept origins as browsers send them, and no patterns', () => {
    for (const origins of ['*', 'https://app.example.com, http://localhost:3000']) {
      expect(issuesOf({ GATEWAY_CORS_ORIGINS: origins })).toEqual([]);
    }
    for (const origins of [
      'app.example.com',
      'https://a.example/',
      'https://*.example',
      'https://A.example',
      'null',
    ]) {
      expect(issuesOf({ GATEWAY_CORS_ORIGINS: origins })).toEqual([
        expect.stringContaining('must be "*", or origins'),
      ]);
    }
  });

  it.each([
    ['https://dashboard.example.com', 'https://dashboard.example.com'],
    ['https://dashboard.example.com/', 'https://dashboard.example.com'],
    ['http://10.0.0.5:8081', 'http://10.0.0.5:8081'],
  ])('accept %s as the origin of the dashboard', (text, origin) => {
    expect(readConfig(settings, { GATEWAY_DASHBOARD_ORIGIN: text }).GATEWAY_DASHBOARD_ORIGIN).toBe(origin);
  });

  it.each(['dashboard.example.com', 'ftp://x', 'https://x/path', 'https://user@x', 'https://x?y'])(
    'reject %s as the origin of the dashboard',
    (text) => expect(issuesOf({ GATEWAY_DASHBOARD_ORIGIN: text })).toHaveLength(1),
  );
});
