import { parseArgs } from 'node:util';

export const USAGE = `Usage: node dist/gateway/main.js [--check-config]

Runs the gateway with the settings of its environment, which docs/reference/configuration.md describes.

  --check-config  say whether the settings and the models file are valid, and start nothing
  --help          say this
`;

export type Command = 'run' | 'check_config' | 'help';

/** @throws Error with a text for people when an option is not known. */
export function readCommandLine(argv: readonly string[]): Command {
  const { values } = parseArgs({
    args: [...argv],
    options: { 'check-config': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return 'help';
  return values['check-config'] ? 'check_config' : 'run';
}
