import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';

/** Python programs that tests drive, on a machine that may have no Python. */
export interface PythonTests {
  /** `it` where the packages are there; elsewhere a loud skip, and with CI=true a failure. */
  readonly it: jest.It;
  /** The path of that Python; throws when there is none. */
  executable(): string;
  /**
   * Runs Python with these arguments and gives back its standard output; rejects, with both outputs,
   * when it ends with anything but 0. Nothing of this process's environment but PATH and HOME is passed on.
   */
  run(
    args: readonly string[],
    options?: {
      env?: Readonly<Record<string, string>>;
      timeoutMs?: number;
      /** Where it runs; by default with the scripts. */
      cwd?: string;
    },
  ): Promise<string>;
}

const DEFAULT_TIMEOUT_MS = 100_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The folder of the scripts and of their requirements. */
export const pythonScripts = path.resolve(__dirname, '../../python');

/** Finds a Python that has these packages: the one that GATEWAY_TEST_PYTHON names, else `python3`. */
export function pythonWith(...packages: readonly string[]): PythonTests {
  const python = findPython(packages);
  const missing = `Python with ${packages.join(', ')}`;
  // A summary must not look whole when it is not: in CI the test runs, and fails for want of Python.
  const skipped = !python && process.env.CI !== 'true';
  if (skipped) {
    console.warn(`SKIPPED: no ${missing}. \`pip install -r apps/e2e/python/requirements.txt\` brings it.`);
  }
  const executable = () => {
    if (!python) throw new Error(`${missing} is missing; .ci/run installs it.`);
    return python;
  };
  return {
    it: skipped ? (it.skip as jest.It) : it,
    executable,
    run(args, { env = {}, timeoutMs = DEFAULT_TIMEOUT_MS, cwd = pythonScripts } = {}) {
      return new Promise((resolve, reject) => {
        execFile(
          executable(),
          [...args],
          {
            cwd,
            env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
            timeout: timeoutMs,
            maxBuffer: MAX_OUTPUT_BYTES,
          },
          (error, stdout, stderr) => {
            if (!error) resolve(stdout);
            else reject(new Error(`python ${args.join(' ')} failed: ${error.message}\n${stdout}\n${stderr}`));
          },
        );
      });
    },
  };
}

function findPython(packages: readonly string[]): string | undefined {
  // Looking them up is enough, and importing some of them takes seconds.
  const check = `import importlib.util, sys; sys.exit(any(importlib.util.find_spec(name) is None for name in ${JSON.stringify(packages)}))`;
  for (const candidate of [process.env.GATEWAY_TEST_PYTHON, 'python3']) {
    if (!candidate) continue;
    try {
      execFileSync(candidate, ['-c', check], { stdio: 'ignore' });
      return candidate;
    } catch {
      // The next one may have them.
    }
  }
  return undefined;
}
