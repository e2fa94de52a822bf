export { BACKGROUND_HEADER } from './client';
export * from './endpoint';
export * from './endpoints';
export * from './errors';
export { errorsOf } from './errors-of';
export * from './fields';
export { managementTokenAccessOf } from './management-token-access';
export * from './permissions';
export { signInErrors, type SignInErrorCode } from './sign-in-errors';
