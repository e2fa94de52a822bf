import { personLabel } from '@gateway/base';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  catalogueQuery,
  foundPeopleQuery,
  foundPlatformKeysQuery,
  foundRequestsQuery,
} from '../api/platform-search';
import { can, useSession } from '../api/session';
import { visible } from '../ui/values';
import type { Command } from './command';

const MIN_REQUEST_ID_CHARACTERS = 6;
/** The shown end of a key. */
const MIN_KEY_CHARACTERS = 4;
const MIN_NAME_CHARACTERS = 3;

/** For operators: requests, keys and people of all organizations, and models. */
export function useFoundAnywhere(text: string): readonly Command[] {
  const navigate = useNavigate();
  const session = useSession();
  const seesAll = can(session, 'platform:organizations');
  const isOneWord = /^\S+$/.test(text);
  const requests = useQuery({
    ...foundRequestsQuery(text),
    enabled: seesAll && isOneWord && text.length >= MIN_REQUEST_ID_CHARACTERS,
  });
  const keys = useQuery({
    ...foundPlatformKeysQuery(text),
    enabled: seesAll && isOneWord && text.length >= MIN_KEY_CHARACTERS,
  });
  const people = useQuery({
    ...foundPeopleQuery(text),
    enabled: can(session, 'platform:people') && text.length >= MIN_NAME_CHARACTERS,
  });
  const managesModels = can(session, 'platform:models') && text.length >= MIN_NAME_CHARACTERS;
  const catalogue = useQuery({ ...catalogueQuery, enabled: managesModels });
  const models = managesModels ? (catalogue.data?.models ?? []) : [];
  return [
    ...(requests.data ?? []).map((request) => {
      const params = { organizationId: request.organization.id };
      const generationId = request.generation_id;
      return {
        id: generationId ?? request.request_id,
        label: visible(generationId ?? request.request_id),
        icon: 'list' as const,
        note: `${generationId === null ? 'Refused request' : 'Generation'} of ${visible(request.organization.name)}`,
        found: true as const,
        run: () =>
          void (generationId === null
            ? navigate({
                to: '/o/$organizationId/generations',
                params,
                search: { find: request.request_id },
              })
            : navigate({
                to: '/o/$organizationId/generations/$generationId',
                params: { ...params, generationId },
              })),
      };
    }),
    ...(keys.data ?? []).map(({ id, name, last4, organization }) => ({
      id,
      label: visible(name),
      icon: 'key' as const,
      note: `Key …${last4} of ${visible(organization.name)}`,
      found: true as const,
      run: () =>
        void navigate({
          to: '/o/$organizationId/keys/$keyId',
          params: { organizationId: organization.id, keyId: id },
        }),
    })),
    ...(people.data ?? []).map(({ id, email, name, organizations }) => ({
      id,
      label: visible(personLabel({ name, email })),
      icon: 'person' as const,
      note: ['Person', ...organizations.map(({ name }) => visible(name))].join(' · '),
      found: true as const,
      run: () => void navigate({ to: '/operator/people', search: { find: email } }),
    })),
    ...models.map(({ id, disabled }) => ({
      id: `model-${id}`,
      label: `${disabled ? 'Enable' : 'Disable'} model ${visible(id)}`,
      icon: 'layers' as const,
      note: 'Operator',
      run: () => void navigate({ to: '/operator/catalogue', search: { find: id } }),
    })),
  ];
}
