import { personLabel } from '@gateway/base';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { foundMembersQuery } from '../api/members';
import { modelsQuery } from '../api/models';
import { activeProjectsQuery } from '../api/projects';
import { can, useSession } from '../api/session';
import { visible } from '../ui/values';
import type { Command } from './command';

const MIN_NAME_CHARACTERS = 3;
/** The matches of each kind. */
const MAX_FOUND = 10;

/** Projects, members and models of an organization. */
export function useFoundInOrganization(organizationId: string | undefined, text: string): readonly Command[] {
  const navigate = useNavigate();
  const session = useSession();
  const id = organizationId ?? '';
  const params = { organizationId: id };
  const searches = organizationId !== undefined && text.length >= MIN_NAME_CHARACTERS;
  const reads = searches && can(session, 'organization:read', organizationId);
  const projects = useQuery({ ...activeProjectsQuery(id), enabled: reads });
  const models = useQuery({ ...modelsQuery, enabled: reads });
  const members = useQuery({
    ...foundMembersQuery(id, text),
    placeholderData: keepPreviousData,
    enabled: searches && can(session, 'members:read', organizationId),
  });
  if (!searches) return [];
  const matches = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  const triesModels = can(session, 'playground:use', organizationId);
  return [
    ...(projects.data ?? [])
      .filter(({ name }) => matches(name))
      .slice(0, MAX_FOUND)
      .map(({ id: projectId, name }) => ({
        id: projectId,
        label: visible(name),
        icon: 'layers' as const,
        note: 'Project',
        run: () =>
          void navigate({ to: '/o/$organizationId/projects/$projectId', params: { ...params, projectId } }),
      })),
    ...(members.data ?? []).map((member) => ({
      id: `member-${member.id}`,
      label: visible(personLabel(member)),
      icon: 'people' as const,
      note: 'Member',
      run: () => void navigate({ to: '/o/$organizationId/members', params, search: { find: member.email } }),
    })),
    ...(models.data ?? [])
      .filter((model) => matches(model.id))
      .slice(0, MAX_FOUND)
      .map((model) => ({
        id: `offered-${model.id}`,
        label: visible(model.id),
        icon: 'layers' as const,
        note: 'Model',
        run: () =>
          void (triesModels
            ? navigate({ to: '/o/$organizationId/playground', params, search: { model: model.id } })
            : navigate({ to: '/o/$organizationId/models', params })),
      })),
  ];
}
