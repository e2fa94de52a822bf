import { Cluster } from './cluster';
import { FakePrograms } from './fake-programs.fixture';
import { MISTAKES, upgradeWithMistake } from './mistakes';
import { Release } from './release';

const [typo, missingSecret, wrongPassword] = MISTAKES as [
  (typeof MISTAKES)[number],
  (typeof MISTAKES)[number],
  (typeof MISTAKES)[number],
];
const SECRET = {
  data: { DATABASE_URL: btoa('postgres://auth:right@postgres:5432/auth'), OTHER: btoa('kept') },
};

describe('an upgrade with a mistake', () => {
  let programs: FakePrograms;
  const release = new Release(new Cluster('here', 'spot'), '/tree');
  beforeEach(() => (programs = new FakePrograms()));
  afterEach(() => programs.remove());

  /** @param statuses of the newest revision before the upgrade, after it, and after a rollback */
  function run(
    statuses: readonly [string, string?, string?],
    { upgrade = 'exit 1', logs = '', events = '' } = {},
  ): void {
    const histories = statuses.map((_, last) =>
      statuses.slice(0, last + 1).map((status, index) => ({ revision: index + 1, status })),
    );
    const show = (index: number) => `echo '${JSON.stringify(histories[index] ?? histories.at(-1))}'`;
    programs.add(
      'helm',
      `case "$*" in
        upgrade*) ${upgrade};;
        history*)
          case $(grep -cE '^helm (upgrade|rollback)' "$(dirname "$0")/calls.log") in
            0) ${show(0)};; 1) ${show(1)};; *) ${show(2)};;
          esac;;
      esac`,
    );
    programs.add(
      'kubectl',
      `case "$*" in
        *" get secret "*) echo '${JSON.stringify(SECRET)}';;
        *" logs "*) echo '${logs}';;
        *" get events "*) echo '${events}';;
      esac`,
    );
  }

  const rollbacks = () => programs.calls().filter((call) => call.startsWith('helm rollback'));

  it('is refused at once if Helm knows it', async () => {
    run(['deployed'], {
      upgrade: 'echo "edgeProxy: Additional property replica is not allowed" >&2; exit 1',
    });
    expect(await upgradeWithMistake(release, typo)).toMatch(/^the cause was shown after \d+ s$/);
    expect(rollbacks()).toEqual([]);
  });

  it('is rolled back to the last good revision, not to the one before', async () => {
    run(['deployed', 'failed', 'deployed'], { events: 'Error: secret "verify-missing" not found' });
    await upgradeWithMistake(release, missingSecret);
    expect(rollbacks()).toEqual([
      'helm rollback gateway 1 --wait --timeout 15m --kube-context here --namespace spot',
    ]);
  });

  it('is rolled back by Helm if it is atomic', async () => {
    run(['deployed', 'deployed'], { logs: 'password authentication failed for user "auth"' });
    await upgradeWithMistake(release, wrongPassword);
    expect(rollbacks()).toEqual([]);
    expect(programs.calls().find((call) => call.startsWith('helm upgrade'))).toContain(' --atomic ');
  });

  it('is rolled back even if its cause is not shown', async () => {
    run(['deployed', 'failed', 'deployed']);
    await expect(upgradeWithMistake(release, missingSecret, 0)).rejects.toThrow(
      'the cause of a missing secret',
    );
    expect(rollbacks()).toHaveLength(1);
  });

  const SUCCEEDS = 'exit 0';
  const FAILS = 'exit 1';
  it.each([
    ['accepted typo', typo, ['deployed', 'failed', 'deployed'], FAILS, 'the newest revision is 2, before 1'],
    ['failed rollback', missingSecret, ['deployed', 'failed', 'failed'], FAILS, "revision is 'failed'"],
    ['successful upgrade', wrongPassword, ['deployed', 'deployed'], SUCCEEDS, 'helm upgrade accepts auth.'],
  ] as const)('is reported after the %s', async (_outcome, mistake, statuses, upgrade, error) => {
    const shown = `Additional property replica is not allowed
      secret "verify-missing" not found, password authentication failed for user`;
    run(statuses, { upgrade, logs: shown });
    await expect(upgradeWithMistake(release, mistake)).rejects.toThrow(error);
  });
});
