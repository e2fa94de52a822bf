import { capture } from './run.mjs';

/**
 * The commit with which the contracts must stay compatible: the merge base with
 * main, or on main itself the previous commit. Undefined without history, as in
 * an archive or a shallow clone.
 */
export async function contractBaseline() {
  const head = await git('rev-parse', 'HEAD');
  const base = (await git('merge-base', 'HEAD', 'origin/main')) ?? (await git('merge-base', 'HEAD', 'main'));
  return base === undefined || base === head ? git('rev-parse', 'HEAD~1') : base;
}

async function git(...args) {
  try {
    const { code, output } = await capture('git', args);
    return code === 0 ? output.trim() : undefined;
  } catch {
    // git is not installed.
    return undefined;
  }
}
