import type { ActingPerson } from '@gateway/actors';
import { endpoints } from '@gateway/dashboard-contract';
import { createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

const ROUNDS = 5;
const { people } = endpoints;

type Change = (actor: Partial<ActingPerson>, memberId: string) => Promise<unknown>;

const PASSWORD = 'correct horse battery';

describe('two operators who concurrently', () => {
  let fixture: AuthFixture;
  const ids: string[] = [];

  beforeAll(async () => {
    fixture = await createAuthFixture();
    for (const name of ['ada', 'ben']) {
      await fixture.member(`${name}@example.com`, PASSWORD);
      const { rows } = await fixture.pool.query('select id from members where email = $1', [
        `${name}@example.com`,
      ]);
      ids.push((rows[0] as { id: string }).id);
    }
  });
  afterAll(() => fixture.stop());

  /** Signs in, which confirms the session. */
  async function signedIn(index: number): Promise<Partial<ActingPerson>> {
    const label = `${['ada', 'ben'][index]}@example.com`;
    const { session_token: token } = await fixture.signIn(label, PASSWORD);
    const { session_id: sessionId } = await fixture.personOfSession(token);
    return { id: ids[index] ?? '', label, ipAddress: '192.0.2.1', sessionId };
  }

  const demote: Change = (actor, memberId) =>
    fixture
      .endpointsAs(actor)
      .call(people.setOperator, { params: { member_id: memberId }, body: { operator: false } });
  const disable: Change = (actor, memberId) =>
    fixture
      .endpointsAs(actor)
      .call(people.setDisabled, { params: { member_id: memberId }, body: { disabled: true } });

  it.each([
    ['demote each other', demote, demote],
    ['disable each other', disable, disable],
    ['demote and disable each other', demote, disable],
  ])('%s leave one operator', async (_name, first, second) => {
    const [adaId = '', benId = ''] = ids;
    for (let round = 0; round < ROUNDS; round += 1) {
      await fixture.pool.query(
        `update members set disabled_at = null, role = case when id = any ($1) then 'operator' else 'member' end`,
        [ids],
      );
      const [ada, ben] = [await signedIn(0), await signedIn(1)];
      await Promise.allSettled([first(ada, benId), second(ben, adaId)]);
      const { rowCount } = await fixture.pool.query(
        `select from members where role = 'operator' and disabled_at is null`,
      );
      expect(rowCount).toBe(1);
    }
  });
});
