import path from 'node:path';
import type { DevFile } from './dev-file';

export interface BannerFacts extends DevFile {
  readonly adminUrl: string;
  /** The model of the curl command; undefined when no model is enabled. */
  readonly modelId: string | undefined;
  /** Whether a model uses the emulator. */
  readonly usesEmulator: boolean;
  readonly stateDirectory: string;
  readonly modelsFile: string;
  /** False when the output may be stored or shared. */
  readonly showSecrets: boolean;
}

/** The message of `npm start` when the gateway is ready. */
export function banner(facts: BannerFacts): string {
  const { modelsFile, showSecrets, stateDirectory } = facts;
  const devFile = path.join(stateDirectory, 'dev.json');
  const secret = (value: string) => (showSecrets ? value : `in ${devFile}`);
  const lines = [
    '',
    'The gateway is ready.',
    '',
    `  Dashboard           ${facts.dashboardUrl}`,
    `  Login               ${facts.adminEmail}`,
    `  Password            ${secret(facts.adminPassword)}`,
    '',
    `  Base URL            ${facts.baseUrl}`,
    `  API key             ${secret(facts.apiKey)}`,
    '',
    ...(facts.modelId === undefined
      ? [`No model is enabled: add one to ${modelsFile}.`, '']
      : ['Try it:', '', curlCommand(facts, facts.modelId, devFile), '']),
    ...(facts.usesEmulator
      ? [
          'Models of the demo provider run on a built-in emulator, which returns generated filler text.',
          'The comments in models.yaml show how to add a real provider.',
          '',
        ]
      : []),
    `${showSecrets ? 'These values are also' : 'Key and password are'} in ${devFile}. Ctrl-C stops all services and keeps the data.`,
    `  Models              ${modelsFile}`,
    `  Health and metrics  ${facts.adminUrl}`,
    '  Claude Code, Codex  need GATEWAY_ENDPOINTS=chat,messages,responses',
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** A command to paste; without secrets it reads the key from the file. */
function curlCommand(
  { baseUrl, apiKey, showSecrets }: BannerFacts,
  modelId: string,
  devFile: string,
): string {
  const authorization = showSecrets
    ? `'Authorization: Bearer ${apiKey}'`
    : `"Authorization: Bearer $(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).apiKey' '${devFile}')"`;
  const body = JSON.stringify({ model: modelId, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${baseUrl}/chat/completions -H ${authorization} -H 'Content-Type: application/json' -d '${body}'`;
}
