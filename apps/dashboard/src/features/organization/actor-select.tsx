import { personLabel } from '@gateway/base';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { foundMembersQuery } from '../../api/members';
import { foundPeopleQuery } from '../../api/platform-search';
import { SearchSelect } from '../../ui/search-select';
import { visible } from '../../ui/values';

interface ActorSelectProps {
  /** Absent: people of all organizations. */
  readonly organizationId: string | undefined;
  readonly value: string | undefined;
  /** The label of the selected person or token; undefined until an entry of it is loaded. */
  readonly valueLabel: string | undefined;
  readonly onChange: (actorId: string | undefined) => void;
}

/** Selects a person by email or name. Other actors, such as management tokens, are selected in the table. */
export function ActorSelect({ organizationId, value, valueLabel, onChange }: ActorSelectProps) {
  const [selected, setSelected] = useState<{ readonly id: string | undefined; readonly label: string }>();
  const label = selected?.id === value ? selected?.label : valueLabel;
  const useOptions = (text: string | undefined) => {
    const searches = text !== undefined;
    const isPlatform = organizationId === undefined;
    const members = useQuery({
      ...foundMembersQuery(organizationId ?? '', text ?? ''),
      enabled: searches && !isPlatform,
    });
    const people = useQuery({ ...foundPeopleQuery(text ?? ''), enabled: searches && isPlatform });
    const found = isPlatform ? people.data : members.data;
    return found?.map((person) => ({ id: person.id, label: visible(personLabel(person)) }));
  };
  return (
    <SearchSelect
      className="sm:w-56"
      value={value}
      valueLabel={value === undefined ? '' : (label ?? value)}
      emptyLabel="All"
      useOptions={useOptions}
      onChange={(id, newLabel) => {
        setSelected({ id, label: newLabel });
        onChange(id);
      }}
    />
  );
}
