import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { organizationQuery } from '../../api/organizations';
import { Id, Text } from '../../ui/values';

/** An organization by its name, or by its id until the name is loaded. */
export function OrganizationLink({ id }: { readonly id: string }) {
  const { data } = useQuery(organizationQuery(id));
  return (
    <Link
      to="/o/$organizationId"
      params={{ organizationId: id }}
      className="hover:text-accent hover:underline"
    >
      {data ? <Text>{data.name}</Text> : <Id>{id}</Id>}
    </Link>
  );
}
