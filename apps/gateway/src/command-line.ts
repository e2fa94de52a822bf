import { parseArgs } from 'node:util';

export const USAGE = `Usage: inference-gateway [option]

Runs the gateway. Settings are environment variables; docs/reference/configuration.md lists them.

  --check-config  validate the settings and the models file, then exit
  --version       print the version, then exit
  -h, --help      show this help
`;

export type Command = 'run' | 'check_config' | 'help' | 'version';

/** @throws Error for an unknown option */
export function readCommandLine(argv: readonly string[]): Command {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      'check-config': { type: 'boolean' },
      version: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  if (values.version) return 'version';
  return values['check-config'] ? 'check_config' : 'run';
}
