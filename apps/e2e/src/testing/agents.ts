import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** An agent of the command line, unmodified, that works in a folder of its own through the gateway. */
export interface Agent {
  readonly folder: string;
  /**
   * Runs one prompt, and returns its session and the agent's last text.
   *
   * @param session of an earlier run, which is continued.
   */
  run(prompt: string, session?: string): Promise<AgentResult>;
  /** Starts a prompt. @returns a function that ends the agent as its user does, with SIGINT. */
  start(prompt: string): () => Promise<void>;
  /** Removes its folder, settings and sessions. */
  remove(): void;
}

interface AgentResult {
  readonly session: string;
  readonly text: string;
}

interface AgentSettings {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

/** How an agent is called, and how its tool for shell commands is. */
export interface AgentKind {
  readonly script: string;
  readonly shell: (command: string) => { name: string; arguments: Readonly<Record<string, unknown>> };
  create(settings: AgentSettings): Agent;
}

const installed = process.env.GATEWAY_TEST_AGENTS;
const isMissing = installed === undefined && process.env.CI !== 'true';
if (isMissing)
  console.warn('SKIPPED: GATEWAY_TEST_AGENTS does not name a folder with the packages of apps/e2e/agents.');

/** `describe` where the agents are installed; otherwise a skip with a warning, or with CI=true a failure. */
export const describeAgents = isMissing ? (describe.skip as jest.Describe) : describe;

const CLAUDE = '@anthropic-ai/claude-code/cli-wrapper.cjs';
const CODEX = '@openai/codex/bin/codex.js';
const TIMEOUT_MS = 120_000;

export const claudeCode: AgentKind = {
  script: CLAUDE,
  shell: (command) => ({ name: 'Bash', arguments: { command, description: 'Runs a command' } }),
  create({ baseUrl, apiKey, model }) {
    const { folder, home, remove } = workspace();
    const env = {
      HOME: home,
      ANTHROPIC_BASE_URL: new URL(baseUrl).origin,
      ANTHROPIC_AUTH_TOKEN: apiKey,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
    const args = (prompt: string, session?: string) => [
      ...['-p', prompt, '--output-format', 'json', '--allowedTools', 'Bash,Read'],
      ...(session === undefined ? [] : ['--resume', session]),
    ];
    return {
      folder,
      remove,
      async run(prompt, session) {
        const output = await launch(CLAUDE, args(prompt, session), folder, env).output;
        const result = JSON.parse(output) as { session_id: string; result: string; is_error: boolean };
        if (result.is_error) throw new Error(result.result);
        return { session: result.session_id, text: result.result };
      },
      start: (prompt) => launch(CLAUDE, args(prompt), folder, env).interrupt,
    };
  },
};

export const codex: AgentKind = {
  script: CODEX,
  shell: (command) => ({ name: 'exec_command', arguments: { cmd: command } }),
  create({ baseUrl, apiKey, model }) {
    const { folder, home, remove } = workspace();
    writeFileSync(
      path.join(home, 'config.toml'),
      [
        `model = "${model}"`,
        'model_provider = "gateway"',
        '[model_providers.gateway]',
        'name = "Inference Gateway"',
        `base_url = "${baseUrl}"`,
        'env_key = "GATEWAY_API_KEY"',
        'wire_api = "responses"',
      ].join('\n'),
    );
    const env = { HOME: home, CODEX_HOME: home, GATEWAY_API_KEY: apiKey };
    const options = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    const args = (prompt: string, session?: string) => [
      'exec',
      ...(session === undefined ? [...options, prompt] : ['resume', ...options, session, prompt]),
    ];
    return {
      folder,
      remove,
      async run(prompt, session) {
        const output = await launch(CODEX, args(prompt, session), folder, env).output;
        const events = output
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as CodexEvent);
        const failed = events.find(({ type }) => type === 'turn.failed');
        if (failed) throw new Error(JSON.stringify(failed));
        const messages = events.filter(({ item }) => item?.type === 'agent_message');
        const thread = events.find(({ type }) => type === 'thread.started')?.thread_id;
        return { session: thread ?? session ?? '', text: messages.at(-1)?.item?.text ?? '' };
      },
      start: (prompt) => launch(CODEX, args(prompt), folder, env).interrupt,
    };
  },
};

interface CodexEvent {
  readonly type: string;
  readonly thread_id?: string;
  readonly item?: { readonly type: string; readonly text?: string };
}

function workspace() {
  const root = mkdtempSync(path.join(os.tmpdir(), 'gateway-agent-'));
  const folder = path.join(root, 'work');
  const home = path.join(root, 'home');
  for (const each of [folder, home]) mkdirSync(each);
  return { folder, home, remove: () => rmSync(root, { recursive: true, force: true }) };
}

function launch(
  script: string,
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
): { output: Promise<string>; interrupt: () => Promise<void> } {
  const file = path.join(installed ?? '', script);
  if (!existsSync(file)) throw new Error(`${file} is missing; .ci/run installs it.`);
  const child = spawn(process.execPath, [file, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which gets signals as from a terminal: the scripts start other programs.
    detached: true,
  });
  const signal = (name: NodeJS.Signals) => process.kill(-child.pid!, name);
  const timer = setTimeout(() => signal('SIGKILL'), TIMEOUT_MS);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  void closed.then(() => clearTimeout(timer));
  const output = closed.then((code) => {
    if (code === 0) return stdout;
    throw new Error(`${script} exited with ${String(code)}:\n${stdout}\n${stderr}`);
  });
  output.catch(() => undefined);
  return {
    output,
    async interrupt() {
      signal('SIGINT');
      await closed;
    },
  };
}
