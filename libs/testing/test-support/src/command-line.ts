export const USAGE_EXIT_CODE = 2;

/**
 * Reads a tool's options. `--help` prints the usage and exits with 0; invalid arguments print the error and the usage,
 * and exit with 2.
 */
export function readOptionsOrExit<Options extends object>(
  read: () => Options | 'help',
  usage: string,
): Options {
  try {
    const options = read();
    if (options !== 'help') return options;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(USAGE_EXIT_CODE);
  }
}
