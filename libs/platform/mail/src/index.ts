export * from './environment';
export * from './smtp-mailer';
