import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Tenant } from '@gateway/test-support';
import { credits, nothingReserved, usageOnceAllCharged } from './testing/accounting';
import { claudeCode, codex, describeAgents, type Agent } from './testing/agents';
import { writeModelsOfAllDialects } from './testing/dialect-models';
import { modelPrefixOf, otherDialects } from './testing/dialects';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(120_000);

/** The model makes the calls of the script, and otherwise says this. */
const SAYING = (text: string) => `[[calls:0]] [[say:${text}]]`;
const LARGE_FILE = Array.from({ length: 1_500 }, (_, line) => `${line}: all work and no play`).join('\n');

let testEnv: TestEnv | undefined;

afterAll(() => testEnv?.stop());

describeAgents.each([
  ['Claude Code', claudeCode],
  ['Codex', codex],
])('%s', (_, kind) => {
  beforeAll(async () => {
    const { modelsFile, env } = writeModelsOfAllDialects();
    testEnv ??= await startTestEnv({
      modelsFile,
      env: { ...env, GATEWAY_ENDPOINTS: 'chat,messages,responses', GATEWAY_DROP_HOSTED_TOOLS: 'true' },
    });
  });

  describe.each(['openai', ...otherDialects] as const)('over the dialect %s', (dialect) => {
    const model = dialect === 'openai' ? 'demo/reasoner' : `${modelPrefixOf(dialect)}reasoner`;
    let tenant: Tenant;
    let agent: Agent;

    beforeAll(async () => {
      tenant = await testEnv!.tenant();
      agent = kind.create({ baseUrl: testEnv!.gateway.baseUrl, apiKey: tenant.apiKey, model });
      writeFileSync(path.join(agent.folder, 'large.txt'), LARGE_FILE);
    });

    afterAll(() => agent?.remove());

    afterEach(async () => {
      const { baseUrl } = testEnv!.gateway;
      await nothingReserved(baseUrl, tenant.apiKey);
      const { totals } = await usageOnceAllCharged(baseUrl, tenant.apiKey);
      expect(totals.total_cost).toBeGreaterThan(0);
    });

    it('finishes a task with parallel calls, a failing tool and a large file, and resumes the session', async () => {
      const { emulator } = testEnv!;
      emulator.reset();
      emulator.setScript([
        [kind.shell('echo one > one.txt'), kind.shell('echo two > two.txt')],
        [kind.shell('exit 3')],
        [kind.shell('cat large.txt')],
        [kind.shell('cat one.txt two.txt > both.txt')],
      ]);
      const done = await agent.run(`Write both files. ${SAYING('It is done.')}`);
      expect(done.text).toBe('It is done.');
      expect(readFileSync(path.join(agent.folder, 'both.txt'), 'utf8')).toBe('one\ntwo\n');

      const promptTokens = () => emulator.requests().map(({ usage }) => usage?.promptTokens ?? 0);
      const [first = 0, ...later] = promptTokens();
      const resumed = await agent.run(`What did you write? ${SAYING('Two files.')}`, done.session);
      expect(resumed.text).toBe('Two files.');
      // With the conversation so far; agents shorten it differently. Without it, the prompt is as long as the first.
      const added = Math.max(...later) - first;
      expect(added).toBeGreaterThan(0);
      expect(promptTokens().at(-1)).toBeGreaterThan(first + added / 2);
    });

    it('can be cancelled in the middle of a response, which is charged', async () => {
      const { emulator, gateway } = testEnv!;
      const { total_usage: before } = await credits(gateway.baseUrl, tenant.apiKey);
      const { cancelled, chunks } = emulator.stats();
      const interrupt = agent.start('Write a book. [[calls:0]] [[tokens:10000]] [[rate:50]]');
      await emulator.until((stats) => stats.chunks > chunks + 20);
      await interrupt();
      await emulator.until((stats) => stats.cancelled > cancelled);
      await nothingReserved(gateway.baseUrl, tenant.apiKey);
      const { total_usage: after } = await credits(gateway.baseUrl, tenant.apiKey);
      expect(after).toBeGreaterThan(before);
    });
  });
});
