import { buttonClass } from './button';
import { Icon } from './icons';

/** Downloads a file of what the page shows. */
export function CsvLink({ href }: { readonly href: string }) {
  return (
    <a className={buttonClass()} download href={href}>
      <Icon name="download" />
      CSV
    </a>
  );
}
