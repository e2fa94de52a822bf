export * from './people-calls';
