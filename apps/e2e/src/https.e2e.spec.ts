import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeFileSync } from 'node:fs';
import { createAuthority, issueCertificate } from '@gateway/certificates';
import { createScratchDirectory, type ScratchDirectory } from '@gateway/test-support';
import { startGateway, type GatewayProcess } from './testing/gateway-process';

jest.setTimeout(120_000);

const run = promisify(execFile);

describe('the gateway with a certificate', () => {
  let gateway: GatewayProcess;
  let scratch: ScratchDirectory;
  let authorityFile: string;

  beforeAll(async () => {
    scratch = await createScratchDirectory();
    const file = (name: string, text: string): string => {
      writeFileSync(path.join(scratch.path, name), text);
      return path.join(scratch.path, name);
    };
    const authority = await createAuthority();
    const dnsNames = ['localhost'];
    const { certificate, privateKey } = await issueCertificate(authority, { dnsNames, validDays: 1 });
    authorityFile = file('ca.crt', authority.certificate);
    gateway = await startGateway({
      env: {
        GATEWAY_HOST: 'localhost',
        GATEWAY_TLS_CERT_FILE: file('tls.crt', certificate),
        GATEWAY_TLS_KEY_FILE: file('tls.key', privateKey),
      },
    });
  });

  afterAll(async () => {
    await gateway?.stop();
    await scratch?.remove();
  });

  it('prints HTTPS URLs, and a curl line that works', async () => {
    expect(gateway.baseUrl).toMatch(/^https:\/\/localhost:\d+\/v1$/);
    expect(gateway.dashboardUrl).toMatch(/^https:\/\/localhost:\d+$/);
    const line = /^curl .*$/m.exec(gateway.output())?.[0];
    const { stdout } = await run('sh', ['-c', `${line} --silent --cacert ${authorityFile}`]);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' });
  });

  it('serves an SDK that trusts the authority, streams included', async () => {
    const script = `
      const { default: OpenAI } = await import('openai');
      const client = new OpenAI();
      const stream = await client.chat.completions.create({
        model: 'demo/small', max_tokens: 20, stream: true, messages: [{ role: 'user', content: 'Hello' }],
      });
      let finish;
      for await (const { choices } of stream) finish = choices[0]?.finish_reason ?? finish;
      console.log(finish);`;
    const env = {
      ...process.env,
      NODE_EXTRA_CA_CERTS: authorityFile,
      OPENAI_BASE_URL: gateway.baseUrl,
      OPENAI_API_KEY: gateway.apiKey,
    };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(stdout.trim()).toMatch(/^(stop|length)$/);
  });

  it('signs people in to the dashboard with a Secure cookie', async () => {
    const { adminEmail: email, adminPassword: password } = gateway;
    const { stdout } = await run('curl', [
      ...['--silent', '--include', '--cacert', authorityFile, `${gateway.dashboardUrl}/api/session`],
      ...['--header', 'content-type: application/json', '--header', `origin: ${gateway.dashboardUrl}`],
      ...['--data', JSON.stringify({ email, password })],
    ]);
    expect(stdout).toMatch(/^HTTP\/1.1 20/);
    expect(stdout).toMatch(/^set-cookie: __Host-gateway_session=.*; Secure/im);
    expect(stdout).toMatch(/^strict-transport-security: /im);
  });
});
