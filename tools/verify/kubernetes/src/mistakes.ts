import { eventually } from '@gateway/test-support';
import { PREFIX, RELEASE_SELECTOR, type Release } from './release';

/** An operator's mistake in an upgrade. */
export interface Mistake {
  readonly name: string;
  /** In the syntax of `helm --set`. */
  readonly values: readonly string[];
  /** What Helm or the commands of docs/how-to/upgrade.md show. */
  readonly cause: RegExp;
  /** Whether the upgrade has `--atomic`; else the rollback is a command of its own. */
  readonly isAtomic: boolean;
  /** Whether Helm refuses the values before it changes anything. */
  readonly isRefused: boolean;
}

const WRONG_PASSWORD = 'verify-wrong-password';

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'a typo',
    values: ['edgeProxy.replica=3'],
    cause: /Additional property replica is not allowed/,
    isAtomic: false,
    isRefused: true,
  },
  {
    name: 'a missing secret',
    values: ['auth.existingSecret=verify-missing'],
    cause: /secret "verify-missing" not found/,
    isAtomic: false,
    isRefused: false,
  },
  {
    name: 'a wrong password',
    values: [`auth.existingSecret=${WRONG_PASSWORD}`],
    cause: /password authentication failed for user/,
    isAtomic: true,
    isRefused: false,
  },
];

/** The commands of docs/how-to/upgrade.md that show why an upgrade failed. */
const DIAGNOSIS = [
  ['logs', '--prefix', '--tail', '20', '--selector', `${RELEASE_SELECTOR},job-name`],
  ['get', 'events', '--field-selector', 'type=Warning', '--sort-by', '.lastTimestamp'],
];

const UPGRADE_TIMEOUT = '60s';
const SHOWN_WITHIN_MS = 60_000;
const POLL_MS = 2_000;

/**
 * Upgrades with a mistake, finds its cause and goes back to the last good revision.
 *
 * @throws Error if the cause is not shown in time, or if the release is not deployed afterwards
 */
export async function upgradeWithMistake(
  release: Release,
  mistake: Mistake,
  shownWithinMs = SHOWN_WITHIN_MS,
): Promise<string> {
  await createWrongPassword(release);
  const before = (await release.history()).at(-1);
  const startedMs = Date.now();
  let error = '';
  const failing = release
    .failToUpgrade(mistake.values, mistake.isAtomic, UPGRADE_TIMEOUT)
    .then((text) => (error = text));
  const shown = eventually(
    `the cause of ${mistake.name}`,
    async () => {
      const texts = DIAGNOSIS.map((command) =>
        // `kubectl logs` fails for a container that has not started.
        release.cluster.kubectl(...command).catch(() => ''),
      );
      const text = `${error}\n${(await Promise.all(texts)).join('\n')}`;
      return mistake.cause.test(text) ? Date.now() - startedMs : undefined;
    },
    { timeoutMs: shownWithinMs, pollMs: POLL_MS },
  );
  // Goes back even if the cause was not shown, or the next step would start from a failed revision.
  const [cause] = await Promise.allSettled([shown, failing]);
  await failing;
  const after = (await release.history()).at(-1);
  const isUnchanged = after?.revision === before?.revision;
  if (mistake.isRefused !== isUnchanged)
    throw new Error(`the newest revision is ${after?.revision}, before ${before?.revision}`);
  if (after?.status === 'failed') await release.rollback(before?.revision);
  const last = (await release.history()).at(-1);
  if (last?.status !== 'deployed') throw new Error(`the newest revision is '${last?.status}'`);
  if (cause.status === 'rejected') throw cause.reason;
  return `the cause was shown after ${Math.round(cause.value / 1_000)} s`;
}

/** The secret of auth with another password of its database. */
async function createWrongPassword({ cluster }: Release): Promise<void> {
  const { data } = JSON.parse(
    await cluster.kubectl('get', 'secret', `${PREFIX}-auth-demo`, '--output', 'json'),
  ) as {
    data: Record<string, string>;
  };
  const url = new URL(Buffer.from(data['DATABASE_URL'] ?? '', 'base64').toString('utf8'));
  url.password = 'wrong';
  const wrong = { ...data, DATABASE_URL: Buffer.from(url.href).toString('base64') };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: WRONG_PASSWORD }, data: wrong };
  await cluster.apply(JSON.stringify(secret));
}
