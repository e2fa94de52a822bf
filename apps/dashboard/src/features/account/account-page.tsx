import { personLabel } from '@gateway/base';
import { useSession } from '../../api/session';
import { exactTime } from '../../format/time';
import { Notice } from '../../ui/notice';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Text, Time } from '../../ui/values';
import { ChangePassword } from './change-password';
import { Identities } from './identities';
import { Profile } from './profile';
import { TwoFactor } from './two-factor';
import { Sessions } from './sessions';

export function AccountPage() {
  const session = useSession();
  return (
    <Page narrow title="Account" description={<Text>{personLabel(session.member)}</Text>}>
      {session.second_factor_setup_required && (
        <Notice tone="warn" title="Set up two-factor authentication to continue">
          Your organization, or the platform for its operators, requires it.
        </Notice>
      )}
      <Section title="Profile">
        <Facts>
          {session.member.role === 'operator' && <Fact name="Role">Operator</Fact>}
          <Fact name="Organizations">
            {session.memberships.length === 0 ? (
              session.member.role === 'operator' ? (
                'All, as an operator'
              ) : (
                'None'
              )
            ) : (
              <ul>
                {session.memberships.map(({ organization, role }) => (
                  <li key={organization.id}>
                    <Text>{organization.name}</Text> <span className="text-ink-faint">({role})</span>
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          <Fact name="Current session">
            Signed in with {session.signed_in_by === 'oidc' ? 'single sign-on' : 'a password'}. Expires{' '}
            <Time at={session.idle_expires_at} /> without activity, and at the latest on{' '}
            <span className="whitespace-nowrap">{exactTime(session.expires_at)}</span>.
          </Fact>
        </Facts>
        <Profile key={session.time_zone} />
      </Section>
      {session.has_password && <ChangePassword />}
      {session.has_password && <TwoFactor on={session.second_factor} />}
      <Identities />
      <Sessions />
    </Page>
  );
}
