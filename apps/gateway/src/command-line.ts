import { parseArgs } from 'node:util';

export const USAGE = `Usage: node dist/gateway/main.js [--check-config]

Runs the gateway. Settings are environment variables; docs/reference/configuration.md lists them.

  --check-config  validate the settings and the models file, then exit
  -h, --help      show this help
`;

export type Command = 'run' | 'check_config' | 'help';

/** @throws Error for an unknown option */
export function readCommandLine(argv: readonly string[]): Command {
  const { values } = parseArgs({
    args: [...argv],
    options: { 'check-config': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return 'help';
  return values['check-config'] ? 'check_config' : 'run';
}
