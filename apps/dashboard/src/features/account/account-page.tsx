import { useSession } from '../../api/session';
import { exactTime } from '../../format/time';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Text, Time } from '../../ui/values';
import { ChangePassword } from './change-password';
import { Identities } from './identities';
import { SecondFactor } from './second-factor';
import { Sessions } from './sessions';

export function AccountPage() {
  const session = useSession();
  return (
    <Page narrow title="Your account" description={<Text>{session.member.email}</Text>}>
      <Section title="You">
        <Facts>
          <Fact name="Role">{session.member.role === 'operator' ? 'Operator of the gateway' : 'Member'}</Fact>
          <Fact name="Organizations">
            {session.memberships.length === 0 ? (
              session.member.role === 'operator' ? (
                'Every one, as operator; a member of none'
              ) : (
                'None'
              )
            ) : (
              <ul>
                {session.memberships.map(({ organization, role }) => (
                  <li key={organization.id}>
                    <Text>{organization.name}</Text> <span className="text-ink-faint">as {role}</span>
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          <Fact name="This session">
            By {session.signed_in_by === 'oidc' ? 'single sign-on' : 'password'}. It ends{' '}
            <Time at={session.idle_expires_at} /> unless you do something, and in any case on{' '}
            <span className="whitespace-nowrap">{exactTime(session.expires_at)}</span>.
          </Fact>
        </Facts>
      </Section>
      {session.has_password && <ChangePassword />}
      {session.has_password && <SecondFactor on={session.second_factor} />}
      <Identities />
      <Sessions />
    </Page>
  );
}
