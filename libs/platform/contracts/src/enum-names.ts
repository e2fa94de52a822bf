/** The names that the domains have for the values of an enum, both ways. */
export function enumNames<Value, Name extends string>(values: Readonly<Record<Name, Value>>) {
  const names = new Map((Object.entries(values) as [Name, Value][]).map(([name, value]) => [value, name]));
  return {
    messageOf: (name: Name): Value => values[name],
    /** Undefined for a value that only a newer version has. */
    nameOf: (value: Value): Name | undefined => names.get(value),
  };
}
