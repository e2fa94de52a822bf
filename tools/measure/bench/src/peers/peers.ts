import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { MODEL, UPSTREAM_MODEL } from '../canned';

/** What a target does for a request in addition to forwarding it. */
export interface Features {
  readonly auth: string;
  readonly limits: string;
  readonly billing: string;
}

/** How a peer is started. */
interface PeerProgram {
  /** The path of Node.js for a Node.js program. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface PeerLocation {
  /** Installation folder. */
  readonly folder: string;
  readonly port: number;
  readonly upstreamPort: number;
}

/** Another gateway, configured for production as its documentation says. */
export interface Peer {
  readonly name: 'portkey' | 'litellm';
  readonly title: string;
  readonly version: string;
  readonly features: Features;
  /** Commands that install it, run in order in its folder. */
  install(folder: string, version: string): readonly (readonly string[])[];
  program(location: PeerLocation): PeerProgram;
  /** Additional headers that a client must send. */
  headers(upstreamPort: number): Readonly<Record<string, string>>;
}

export const PEER_KEY = 'sk-bench';

const upstreamUrl = (port: number): string => `http://127.0.0.1:${port}/v1`;

export const PEERS: readonly Peer[] = [
  {
    name: 'portkey',
    title: 'Portkey',
    version: '1.15.2',
    features: { auth: 'no', limits: 'no', billing: 'no' },
    install: (_, version) => [
      ['npm', 'init', '--yes'],
      // Newer versions, which npm would choose, fail for every stream: "TypeError: immutable".
      ['npm', 'pkg', 'set', 'overrides[@hono/node-server]=1.13.8'],
      ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', `@portkey-ai/gateway@${version}`],
    ],
    program: ({ folder, port }) => ({
      command: process.execPath,
      args: [
        path.join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'),
        `--port=${port}`,
        '--headless',
      ],
      env: { NODE_ENV: 'production' },
    }),
    headers: (upstreamPort) => ({
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': upstreamUrl(upstreamPort),
    }),
  },
  {
    // Some later versions need packages that a mirror may not have yet.
    name: 'litellm',
    title: 'LiteLLM',
    version: '1.100.0',
    // Its keys, budgets and limits need a database; without one there is only the master key.
    features: { auth: 'one key', limits: 'no', billing: 'no' },
    install: (folder, version) => [
      ['python3', '-m', 'venv', path.join(folder, 'venv')],
      [
        path.join(folder, 'venv/bin/pip'),
        'install',
        '--quiet',
        '--disable-pip-version-check',
        `litellm[proxy]==${version}`,
      ],
    ],
    program: ({ folder, port, upstreamPort }) => {
      const config = path.join(folder, `config-${port}.json`);
      // JSON is YAML.
      writeFileSync(config, JSON.stringify(litellmConfig(upstreamPort)));
      return {
        command: path.join(folder, 'venv/bin/litellm'),
        args: [`--config=${config}`, '--host=127.0.0.1', `--port=${port}`, '--num_workers=1'],
        env: { LITELLM_MODE: 'PRODUCTION', LITELLM_LOG: 'ERROR', LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
      };
    },
    headers: () => ({}),
  },
];

const litellmConfig = (upstreamPort: number): object => ({
  model_list: [
    {
      model_name: MODEL,
      litellm_params: {
        model: `openai/${UPSTREAM_MODEL}`,
        api_base: upstreamUrl(upstreamPort),
        api_key: PEER_KEY,
      },
    },
  ],
  general_settings: { master_key: PEER_KEY },
  litellm_settings: { telemetry: false },
});
