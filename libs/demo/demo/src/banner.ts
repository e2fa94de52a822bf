import path from 'node:path';
import type { DevFile } from './dev-file';

export interface BannerFacts extends DevFile {
  readonly adminUrl: string;
  /** Of the model in the curl line; undefined when the catalogue has none. */
  readonly modelId: string | undefined;
  /** Whether models are served by the emulator. */
  readonly usesEmulator: boolean;
  readonly stateDirectory: string;
  readonly modelsFile: string;
  /** Off where the text may end in a file or in somebody else's hands. */
  readonly showSecrets: boolean;
}

/** What `npm start` says when it is ready. */
export function banner(facts: BannerFacts): string {
  const { modelsFile, showSecrets, stateDirectory } = facts;
  const devFile = path.join(stateDirectory, 'dev.json');
  const secret = (value: string) => (showSecrets ? value : `in ${devFile}`);
  const lines = [
    '',
    'The gateway is ready.',
    '',
    `  Open this           ${facts.dashboardUrl}`,
    `  Login               ${facts.adminEmail}`,
    `  Password            ${secret(facts.adminPassword)}`,
    '',
    `  Base URL            ${facts.baseUrl}`,
    `  API key             ${secret(facts.apiKey)}`,
    '',
    ...(facts.modelId === undefined
      ? [`No model is enabled: add one to ${modelsFile}.`, '']
      : ['Try it:', '', curlLine(facts, facts.modelId, devFile), '']),
    ...(facts.usesEmulator
      ? [
          'Models that use the demo provider are served by a built-in emulator: its answers are invented.',
          'The comments of models.yaml show how to plug in a real provider.',
          '',
        ]
      : []),
    `${showSecrets ? 'The same is' : 'Key and password are'} in ${devFile}. Ctrl-C stops everything; nothing is lost.`,
    `  Models              ${modelsFile}`,
    `  Health and metrics  ${facts.adminUrl}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Works when pasted: without a terminal the key is read from where it is. */
function curlLine({ baseUrl, apiKey, showSecrets }: BannerFacts, modelId: string, devFile: string): string {
  const authorization = showSecrets
    ? `'Authorization: Bearer ${apiKey}'`
    : `"Authorization: Bearer $(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).apiKey' '${devFile}')"`;
  const body = JSON.stringify({ model: modelId, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${baseUrl}/chat/completions -H ${authorization} -H 'Content-Type: application/json' -d '${body}'`;
}
