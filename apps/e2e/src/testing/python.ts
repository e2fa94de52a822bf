import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';

/** Tests that run Python programs, on a machine that may lack Python. */
export interface PythonTests {
  /** `it` if the packages are installed; otherwise a skip with a warning, or with CI=true a failure. */
  readonly it: jest.It;
  /** The path of the Python that has the packages; throws if there is none. */
  executable(): string;
  /**
   * Runs Python with these arguments and returns its standard output. Rejects with both outputs if the exit code is
   * not 0. Of this process's environment, only PATH and HOME are passed on.
   */
  run(
    args: readonly string[],
    options?: {
      env?: Readonly<Record<string, string>>;
      timeoutMs?: number;
      /** The working directory. Default: the folder of the scripts. */
      cwd?: string;
    },
  ): Promise<string>;
}

const DEFAULT_TIMEOUT_MS = 100_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The folder of the scripts and their requirements*.txt. */
export const pythonScripts = path.resolve(__dirname, '../../python');

/** Finds a Python that has these packages: one of GATEWAY_TEST_PYTHON, or else `python3`. */
export function pythonWith(...packages: readonly string[]): PythonTests {
  const python = findPython(packages);
  const missing = `Python with ${packages.join(', ')}`;
  // In CI the test runs and fails without Python, so that a summary never hides a skipped test.
  const skipped = !python && process.env.CI !== 'true';
  if (skipped) {
    console.warn(`SKIPPED: no ${missing}. apps/e2e/python/requirements*.txt name the versions.`);
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
  // Only looks the packages up, because importing some of them takes seconds.
  const check = `import importlib.util, sys; sys.exit(any(importlib.util.find_spec(name) is None for name in ${JSON.stringify(packages)}))`;
  const given = (process.env.GATEWAY_TEST_PYTHON ?? '').split(path.delimiter);
  for (const candidate of [...given, 'python3']) {
    if (candidate === '') continue;
    try {
      execFileSync(candidate, ['-c', check], { stdio: 'ignore' });
      return candidate;
    } catch {
      // The next candidate may have the packages.
    }
  }
  return undefined;
}
