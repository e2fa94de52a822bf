export { openOperatorNotificationsModule, type OpenOperatorNotificationsOptions } from './open-module';
