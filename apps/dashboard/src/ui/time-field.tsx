import { inputValue, minuteOf } from '../format/time-range';
import { Field, Input } from './field';
import { useTimeZone } from './time-zone';

interface TimeFieldProps {
  readonly label: string;
  /** As `format/time-range` reads it. */
  readonly value: string | undefined;
  readonly end: 'start' | 'end';
  readonly onChange: (value: string | undefined) => void;
}

/** An end of a time range, in the chosen time zone and to the minute. */
export function TimeField({ label, value, end, onChange }: TimeFieldProps) {
  const zone = useTimeZone();
  return (
    <Field label={`${label} (${zone === 'utc' ? 'UTC' : 'local time'})`}>
      <Input
        type="datetime-local"
        className="sm:w-48"
        value={inputValue(value, end, zone)}
        onChange={({ target }) => onChange(minuteOf(target.value, zone))}
      />
    </Field>
  );
}
