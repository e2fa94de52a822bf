import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { MODEL, UPSTREAM_MODEL } from '../canned';

/** What a target does for a request besides passing it on. */
export interface Duties {
  readonly auth: string;
  readonly limits: string;
  readonly billing: string;
}

/** How a peer is started. */
interface PeerProgram {
  /** Node's own path for a program of Node. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface PeerPlace {
  /** Where it is installed. */
  readonly folder: string;
  readonly port: number;
  readonly upstreamPort: number;
}

/** A gateway that others make, as its makers' documents say to run it in production. */
export interface Peer {
  readonly name: 'portkey' | 'litellm';
  readonly title: string;
  readonly version: string;
  readonly duties: Duties;
  /** Commands that install it into a folder, one after the other, run there. */
  install(folder: string, version: string): readonly (readonly string[])[];
  program(place: PeerPlace): PeerProgram;
  /** What a client has to send beside its key. */
  headers(upstreamPort: number): Readonly<Record<string, string>>;
}

export const PEER_KEY = 'sk-bench';

const upstreamUrl = (port: number): string => `http://127.0.0.1:${port}/v1`;

/** The versions are pinned here and nowhere else. */
export const PEERS: readonly Peer[] = [
  {
    name: 'portkey',
    title: 'Portkey',
    version: '1.15.2',
    duties: { auth: 'no', limits: 'no', billing: 'no' },
    install: (_, version) => [
      ['npm', 'init', '--yes'],
      // With a newer one, which npm would choose, it fails at every stream: "TypeError: immutable".
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
    // Of those that came after it some want packages that are newer than what a mirror may hold.
    name: 'litellm',
    title: 'LiteLLM',
    version: '1.100.0',
    // Its keys, budgets and limits want a database of its own; without one there is the master key.
    duties: { auth: 'one key', limits: 'no', billing: 'no' },
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
