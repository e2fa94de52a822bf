import { ConfigError, readConfig } from '@gateway/runtime';
import { settings } from './config';

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(settings, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
  return [];
}

describe('the settings', () => {
  it('name every trusted proxy that cannot be read, before anything starts', () => {
    expect(faultsOf({ GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8, nonsense, ::1, 10.0.0.0/33' })).toEqual([
      'GATEWAY_TRUSTED_PROXIES: must be addresses or CIDR ranges; invalid: "nonsense", "10.0.0.0/33"',
    ]);
    expect(faultsOf({ GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8,192.0.2.1' })).toEqual([]);
  });

  it('take origins as browsers write them, and no patterns', () => {
    for (const origins of ['*', 'https://app.example.com, http://localhost:3000']) {
      expect(faultsOf({ GATEWAY_CORS_ORIGINS: origins })).toEqual([]);
    }
    for (const origins of [
      'app.example.com',
      'https://a.example/',
      'https://*.example',
      'https://A.example',
      'null',
    ]) {
      expect(faultsOf({ GATEWAY_CORS_ORIGINS: origins })).toEqual([
        expect.stringContaining('must be "*", or origins'),
      ]);
    }
  });

  it.each([
    ['https://dashboard.example.com', 'https://dashboard.example.com'],
    ['https://dashboard.example.com/', 'https://dashboard.example.com'],
    ['http://10.0.0.5:8081', 'http://10.0.0.5:8081'],
  ])('take %s as the origin of the dashboard', (text, origin) => {
    expect(readConfig(settings, { GATEWAY_DASHBOARD_ORIGIN: text }).GATEWAY_DASHBOARD_ORIGIN).toBe(origin);
  });

  it.each(['dashboard.example.com', 'ftp://x', 'https://x/path', 'https://user@x', 'https://x?y'])(
    'refuse %s as the origin of the dashboard',
    (text) => expect(faultsOf({ GATEWAY_DASHBOARD_ORIGIN: text })).toHaveLength(1),
  );
});
