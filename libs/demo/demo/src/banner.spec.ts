import { banner, type BannerFacts } from './banner';

const facts: BannerFacts = {
  baseUrl: 'http://127.0.0.1:8080/v1',
  apiKey: 'sk-gw-demo-secret',
  dashboardUrl: 'http://127.0.0.1:8081',
  adminEmail: 'operator@example.com',
  adminPassword: 'demo-password',
  adminUrl: 'http://127.0.0.1:8082',
  modelId: 'demo/small',
  usesEmulator: true,
  stateDirectory: '/state',
  modelsFile: '/etc/models.yaml',
  showSecrets: true,
};

it('shows all access data at a terminal', () => {
  const text = banner(facts);
  for (const fact of [
    facts.baseUrl,
    facts.apiKey,
    facts.adminPassword,
    facts.dashboardUrl,
    facts.modelsFile,
  ]) {
    expect(text).toContain(fact);
  }
  expect(text).toMatch(/^ +Dashboard +http:\/\/127\.0\.0\.1:8081$/m);
  expect(text).toContain(`-H 'Authorization: Bearer ${facts.apiKey}'`);
});

it('names the file of the secrets instead of the secrets when the output may be stored, and its curl command reads it', () => {
  const text = banner({ ...facts, showSecrets: false });
  expect(text).not.toContain(facts.apiKey);
  expect(text).not.toContain(facts.adminPassword);
  expect(text).toContain('in /state/dev.json');
  expect(text).toMatch(/curl .*\$\(node -p .*'\/state\/dev\.json'\)/);
});
