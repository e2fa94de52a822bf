import { endpoints, parts } from '@gateway/dashboard-contract';
import { randomBytes } from 'node:crypto';
import { codeOf, TEST_CLIENT as client } from '../testing/people-calls';
import { createPeopleFixture, PASSWORD } from '../testing/people-under-test';

it('a password of 200 characters is not accepted with a further one', async () => {
  const fixture = await createPeopleFixture();
  const longest = randomBytes(100).toString('hex');
  const { email } = await fixture.person();
  const before = await fixture.endpointsOf((await fixture.signIn(email, PASSWORD)).session_token);
  const change = { current_password: PASSWORD, new_password: longest };
  const opened = await before.call(parts.changePassword, { body: change, client });
  const own = await fixture.endpointsOf(opened.session_token);
  const confirm = (password: string) => codeOf(own.call(endpoints.session.confirm, { body: { password } }));
  expect(await confirm(longest)).toBeUndefined();
  expect(await confirm(`${longest}x`)).toBe('sign_in_refused');
  expect(await codeOf(fixture.signIn(email, `${longest}x`))).toBe('sign_in_refused');
  await fixture.stop();
});
