import { useQuery } from '@tanstack/react-query';
import { signInOptionsQuery } from '../api/sign-in-options';

/** "an operator", with a link where the deployment has a contact. */
export function OperatorContact() {
  const { data } = useQuery(signInOptionsQuery);
  const contact = data?.operator_contact;
  if (!contact) return 'an operator';
  const isUrl = contact.startsWith('https://');
  return (
    <>
      an operator (
      <a
        href={isUrl ? contact : `mailto:${contact}`}
        {...(isUrl ? { target: '_blank', rel: 'noreferrer' } : {})}
        className="font-medium underline"
      >
        {contact}
      </a>
      )
    </>
  );
}
